#pragma once

#include "ops/op.h"

namespace opbench {

/// What pad does to one axis: `before` and `after` are added, or cut off where they are negative.
struct Padding {
  std::int64_t before = 0, after = 0;
};

/// Of every axis of `shape` from attribute `pad`, whose pairs begin with the last axis. Errors:
/// throws Error on an odd number of numbers, more pairs than axes, or nothing left of an axis.
std::vector<Padding> paddings_of(const Dims& shape, const Attrs& attrs);

/// `shape` with its paddings.
Dims padded_shape(const Dims& shape, const std::vector<Padding>& paddings);

}  // namespace opbench
