#pragma once

#include <span>

#include "ops/gates.h"

namespace opbench {

/// Numbers of clipped_swiglu and its gradient.
struct ClippedGate {
  double alpha, limit, bias;

  explicit ClippedGate(const Attrs& attrs)
      : alpha(attrs.number("alpha")), limit(attrs.number("limit")), bias(attrs.number("bias")) {}

  /// NaN stays.
  double clipped_a(double a) const { return a > limit ? limit : a; }
  double clipped_b(double b) const { return b < -limit ? -limit : b > limit ? limit : b; }
};

/// The view of x in clipped_swiglu or its gradient.
GatePairs clipped_pairs(std::string_view op, const Dims& shape, const Attrs& attrs);

/// The pairs before the row, along the axes before `dim`, that is the sum of the group sizes.
std::int64_t live_pairs(const GatePairs& pairs, std::span<const std::int64_t> group_index);

}  // namespace opbench
