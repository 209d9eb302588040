#pragma once

#include <vector>

#include "ops/op.h"

namespace opbench {

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
