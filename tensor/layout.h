#pragma once

#include <cstddef>

#include "tensor/tensor.h"

namespace opbench {

/// Copies `from` to `to`, which has the same dtype and logical shape; formats, C0 and groups may
/// differ. Padding of `to` becomes zero; what that of `from` holds does not matter. Bits are
/// preserved, NaN payloads too. Errors: throws Error if dtype or shape differ.
void convert_layout(const Tensor& from, Tensor& to);

/// Writes zero to all of a tensor that has padding, to be followed by its elements.
void clear_padding(const TensorDesc& desc, void* storage);

/// Element maps of the two directions on raw memory.
/// Shapes: plain [N, C, H*W], blocked [N, ceil(C/c0), H*W, c0]; `element_bytes` is 1, 2, 4 or 8.
void nchw_to_nc1hwc0(const void* from, void* to, const Dims& nchw, int c0,
                     std::size_t element_bytes);
void nc1hwc0_to_nchw(const void* from, void* to, const Dims& nchw, int c0,
                     std::size_t element_bytes);

}  // namespace opbench
