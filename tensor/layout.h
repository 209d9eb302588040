#pragma once

#include <cstddef>

#include "tensor/tensor.h"

namespace opbench {

/// Copies `from` to `to`, which has the same dtype and logical shape and another storage format.
/// Formats: plain (NCHW, ND) <-> NC1HWC0, and equal ones. Padding lanes of `to` become zero,
/// padding lanes of `from` are not read. Bits are preserved, NaN payloads too. Errors: throws Error
/// if dtype or shape differ or the pair is not supported.
void convert_layout(const Tensor& from, Tensor& to);

/// Element maps of the two directions on raw memory.
/// Shapes: plain [N, C, H*W], blocked [N, ceil(C/c0), H*W, c0]; `element_bytes` is 1, 2, 4 or 8.
void nchw_to_nc1hwc0(const void* from, void* to, const Dims& nchw, int c0,
                     std::size_t element_bytes);
void nc1hwc0_to_nchw(const void* from, void* to, const Dims& nchw, int c0,
                     std::size_t element_bytes);

}  // namespace opbench
