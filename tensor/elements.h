#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "tensor/buffer.h"
#include "tensor/tensor.h"

namespace opbench {

/// Logical elements [first, first + count) of a tensor, counted in row-major order of its shape.
struct ElementRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Cuts the logical range into blocks that suit the storage: one (n, c1) slab of NC1HWC0, else
/// about 32 Ki elements, and up to 256 Ki for interleaved channels. Blocks cover every element once
/// and depend on `desc` only. Errors: throws Error if the shape does not fit the format.
std::int64_t block_count(const TensorDesc& desc);
ElementRange block(const TensorDesc& desc, std::int64_t index);
std::int64_t largest_block(const TensorDesc& desc);

/// Copies logical elements out of (into) the storage of a tensor of any format, unchanged. Padding
/// is not written, and its contents do not matter. Errors: throws Error if the shape does not fit
/// the format; undefined if the range leaves the tensor (asserted).
void read_elements(const TensorDesc& desc, const void* storage, ElementRange range, void* to);
void write_elements(const TensorDesc& desc, void* storage, ElementRange range, const void* from);

/// Like read_elements, converted to fp64 (exact for all but int64 beyond 2^53).
void read_doubles(const TensorDesc& desc, const void* storage, ElementRange range,
                  std::span<double> to);

/// Converts `count` elements of `dtype` to fp64 and back. A floating dtype is rounded to nearest
/// once, ties to even; tensor/byte_float.h states the exceptions. An integer is truncated and
/// clamped; NaN gives 0.
void to_doubles(DType dtype, const void* from, std::int64_t count, double* to);
void from_doubles(DType dtype, const double* from, std::int64_t count, void* to);

/// A copy of the storage of a floating tensor, with the element at `place` set to `change(place,
/// value)`, rounded to its dtype. `change` is called from several threads at once.
Buffer changed_copy(const TensorDesc& desc, const void* storage,
                    const std::function<double(std::int64_t place, double value)>& change);

}  // namespace opbench
