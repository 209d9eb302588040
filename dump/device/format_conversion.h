#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dump/dump_types.h"
#include "tensor/format.h"

namespace opbench {

/// A tensor as a device stores it.
struct StoredTensor {
  StoredType type = StoredType::none;
  Format format = Format::ND;
  Dims shape;         ///< as stored, padding included
  Dims target_shape;  ///< what it is without padding, in any order of its axes; empty: unknown
  int groups = 1;     ///< of a convolution's weight
};

/// Dense elements in another format.
struct ConvertedTensor {
  Format format = Format::ND;
  Dims shape;
  std::vector<std::byte> elements;
};

/// `elements`, which are stored as `tensor` says, in the format `target`:
///   NC1HWC0, FRACTAL_Z           -> NCHW, NHWC, HWCN, and ND, which is NCHW
///   NDC1HWC0                     -> NCDHW, NDHWC, and ND, which is NCDHW
///   FRACTAL_NZ                   -> ND, NCHW, NHWC, HWCN: the matrix and what comes before it
///   NCHW, NHWC, HWCN             -> each other, and FRACTAL_Z with C0 = 16, or 32 for 8 bits
/// and any format to itself, where plain ones may be given another shape. NCHW, NHWC and HWCN of
/// other ranks than 4 are ND. Padding is removed: private formats do not tell how much there is, so
/// the target shape has to; without one, NC1HWC0, NDC1HWC0 and FRACTAL_NZ are given back with it.
/// The axes of the target shape may be in the order of the target or of any other plain format:
/// the one that fits what is stored counts, and the target's where several do.
///
/// Errors: throws Error for other pairs and for shapes that do not fit.
/// Source: msaccucmp's pairs; the padding rules are those of `storage_dims`.
ConvertedTensor convert_format(const StoredTensor& tensor, const void* elements, Format target);

}  // namespace opbench
