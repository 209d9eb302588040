#pragma once

#include <vector>

#include "ops/op.h"

namespace opbench {

/// The order of axes in attribute `perm` for a tensor of this rank; empty: reversed. Errors: throws
/// Error unless it is a permutation of the axes.
Dims transpose_perm(const Dims& shape, const Attrs& attrs);

/// The shape of `parts` stacked tensors of shape `part`. Errors: throws Error that names the axis.
Dims stacked_shape(const Dims& part, std::int64_t parts, const Attrs& attrs);

/// `shape` enlarged by the distances of elements in the attributes of pad.
Dims spread_shape(const Dims& shape, const Attrs& attrs);

/// The padding of one axis: `before` and `after` are added, or cut off if they are negative.
struct Padding {
  std::int64_t before = 0, after = 0;
};

/// The paddings of every axis of `shape` from attribute `pad`, which begins with the last axis.
/// Errors: throws Error on an odd number of numbers, more pairs than axes, or an axis without
/// remaining elements.
std::vector<Padding> paddings_of(const Dims& shape, const Attrs& attrs);

/// `shape` with its paddings.
Dims padded_shape(const Dims& shape, const std::vector<Padding>& paddings);

/// The axes of `shape` in attribute `dims` of flip. Errors: throws Error on an axis out of range or
/// named twice.
std::vector<bool> flipped_axes(const Dims& shape, const Attrs& attrs);

/// A rolled tensor: element i of axis k comes from (i - shifts[k]) modulo its extent. Without
/// `dims` all elements are one axis.
struct Roll {
  Dims shape, shifts;  ///< for every axis; shifts are from 0 to its extent

  /// Errors: throws Error unless each of `dims` has one shift, occurs once, and the shift is at
  /// most 2^40.
  Roll(const Dims& of, const Attrs& attrs);
};

}  // namespace opbench
