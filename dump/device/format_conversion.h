#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dump/dump_types.h"
#include "tensor/format.h"

namespace opbench {

/// A tensor in the layout of a device.
struct StoredTensor {
  StoredType type = StoredType::none;
  Format format = Format::ND;
  Dims shape;         ///< as stored, padding included
  Dims target_shape;  ///< shape without padding, axes in any order; empty: unknown
  int groups = 1;     ///< groups of a convolution, for its weight
};

/// Dense elements in the target format.
struct ConvertedTensor {
  Format format = Format::ND;
  Dims shape;
  std::vector<std::byte> elements;
};

/// Converts `elements`, stored as `tensor` describes, to the format `target`:
///   NC1HWC0, FRACTAL_Z  -> NCHW, NHWC, HWCN, and ND, treated as NCHW
///   NDC1HWC0            -> NCDHW, NDHWC, and ND, treated as NCDHW
///   FRACTAL_NZ          -> ND, NCHW, NHWC, HWCN: the matrix and its leading axes
///   NCHW, NHWC, HWCN    -> each other, and FRACTAL_Z with C0 = 16, or 32 for 8 bits
/// Any format can be converted to itself; plain formats may get another shape. NCHW, NHWC and HWCN
/// with a rank other than 4 are ND. Padding is removed. The target shape gives its size, because
/// private formats do not store it. Without a target shape, NC1HWC0, NDC1HWC0 and FRACTAL_NZ keep
/// their padding. The axes of the target shape may be in the order of any plain format: the order
/// that fits the stored shape is used, or the target's if several fit.
/// Errors: throws Error for other pairs and for shapes that do not fit.
/// Source: msaccucmp's pairs; the padding rules are those of `storage_dims`.
ConvertedTensor convert_format(const StoredTensor& tensor, const void* elements, Format target);

}  // namespace opbench
