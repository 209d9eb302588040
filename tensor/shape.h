#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/dtype.h"

namespace opbench {

/// Extents of a tensor, outermost first. Empty: a scalar.
using Dims = std::vector<std::int64_t>;

/// The largest rank; more dimensions than any operator has.
inline constexpr std::size_t kLargestRank = 16;

/// Product of the extents; 1 for a scalar.
/// Errors: throws Error if there are more than kLargestRank extents, one is negative or the product
/// overflows 63 bits.
std::int64_t element_count(const Dims& dims);

/// "128x64x7x7"; "scalar" for no dims.
std::string to_string(const Dims& dims);

/// Inverse of `to_string`. Errors: throws Error on anything else.
Dims parse_dims(std::string_view text);

/// Strides in elements of a dense row-major tensor.
Dims row_major_strides(const Dims& dims);

/// A strided window on dense memory: element (i0, i1, ...) is at offset + sum(i_k * strides[k]).
/// Strides and offset count elements; strides may be 0 (broadcast) and are never negative.
struct StridedView {
  Dims shape;
  Dims strides;
  std::int64_t offset = 0;

  bool operator==(const StridedView&) const = default;
};

/// The view of all elements of a dense row-major tensor.
StridedView dense_view(const Dims& shape);

/// The view with reordered axes: axis k of the result is axis perm[k] of `view`. Errors: throws
/// Error unless `perm` is a permutation.
StridedView permute(const StridedView& view, const Dims& perm);
StridedView transpose(const StridedView& view, std::int64_t axis_a, std::int64_t axis_b);

/// The view of `length` elements from `start`, every `step`-th, along `axis`. Errors: throws Error
/// if it leaves the axis.
StridedView slice(const StridedView& view, std::int64_t axis, std::int64_t start,
                  std::int64_t length, std::int64_t step = 1);

/// The view with `axis` fixed at `index` and removed.
StridedView select(const StridedView& view, std::int64_t axis, std::int64_t index);

/// The view repeated up to `shape`: extents of 1 are repeated (stride 0), new axes are added in
/// front. Errors: throws Error if it cannot be broadcast.
StridedView broadcast_to(const StridedView& view, const Dims& shape);

/// True if the elements are in row-major order without gaps (extents of 1 and empty views
/// included).
bool is_contiguous(const StridedView& view);

/// One past the largest element offset of the view, for bounds checks; 0 if it is empty.
std::int64_t extent(const StridedView& view);

}  // namespace opbench
