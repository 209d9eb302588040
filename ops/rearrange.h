#pragma once

#include <vector>

#include "ops/op.h"

namespace opbench {

/// The order of axes that attribute `perm` states for a tensor of this rank; empty: reversed.
/// Errors: throws Error unless it is a permutation of the axes.
Dims transpose_perm(const Dims& shape, const Attrs& attrs);

/// The shape of so many tensors of shape `part`, stacked. Errors: throws Error that names the axis.
Dims stacked_shape(const Dims& part, std::int64_t parts, const Attrs& attrs);

/// `shape` with the elements that pad keeps as far apart as its attributes say.
Dims spread_shape(const Dims& shape, const Attrs& attrs);

/// What pad does to one axis: `before` and `after` are added, or cut off where they are negative.
struct Padding {
  std::int64_t before = 0, after = 0;
};

/// Of every axis of `shape` from attribute `pad`, whose pairs begin with the last axis. Errors:
/// throws Error on an odd number of numbers, more pairs than axes, or nothing left of an axis.
std::vector<Padding> paddings_of(const Dims& shape, const Attrs& attrs);

/// `shape` with its paddings.
Dims padded_shape(const Dims& shape, const std::vector<Padding>& paddings);

/// Which axes of `shape` attribute `dims` of flip names. Errors: throws Error on an axis out of
/// range or named twice.
std::vector<bool> flipped_axes(const Dims& shape, const Attrs& attrs);

/// A tensor rolled along axes: element i of axis k comes from (i - shifts[k]) modulo its extent.
/// Without `dims` all elements are one axis.
struct Roll {
  Dims shape, shifts;  ///< of every axis, shifts from 0 to its extent

  /// Errors: throws Error unless there is a shift for each of `dims`, none of them named twice, and
  /// none is beyond 2^40.
  Roll(const Dims& of, const Attrs& attrs);
};

}  // namespace opbench
