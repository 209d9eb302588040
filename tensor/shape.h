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

/// More dimensions than any operator has.
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

/// A strided window on dense memory: element (i0, i1, ...) lies at offset + sum(i_k * strides[k]).
/// Strides and offset count elements; strides may be 0 (broadcast) and are never negative.
struct StridedView {
  Dims shape;
  Dims strides;
  std::int64_t offset = 0;

  bool operator==(const StridedView&) const = default;
};

/// The whole of a dense row-major tensor.
StridedView dense_view(const Dims& shape);

/// Axes reordered: axis k of the result is axis perm[k] of `view`. Errors: throws Error unless
/// `perm` is a permutation.
StridedView permute(const StridedView& view, const Dims& perm);
StridedView transpose(const StridedView& view, std::int64_t axis_a, std::int64_t axis_b);

/// `length` elements from `start`, every `step`-th, along `axis`. Errors: throws Error if it leaves
/// the axis.
StridedView slice(const StridedView& view, std::int64_t axis, std::int64_t start,
                  std::int64_t length, std::int64_t step = 1);

/// `axis` fixed at `index` and removed.
StridedView select(const StridedView& view, std::int64_t axis, std::int64_t index);

/// Extents of 1 repeated (stride 0), new axes in front, up to `shape`. Errors: throws Error if not
/// broadcastable.
StridedView broadcast_to(const StridedView& view, const Dims& shape);

/// True if the elements lie in row-major order without gaps (extents of 1 and empty views
/// included).
bool is_contiguous(const StridedView& view);

/// One past the largest element offset the view touches; 0 if it is empty. For bounds checks.
std::int64_t extent(const StridedView& view);

}  // namespace opbench
