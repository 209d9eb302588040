#pragma once

#include <cstdint>
#include <span>

namespace opbench {

/// Inputs of place 0 that a tap's sums multiply, and where the 16 sums are.
struct DepthwiseTerm {
  const float* x;
  float* sums;
};

/// sums[lane] += x[place][lane] * dy[place][lane] for every term and `count` places of 16 lanes
/// side by side, in their order.
void add_depthwise_terms(const float* dy, std::int64_t count, std::span<const DepthwiseTerm> terms);

}  // namespace opbench
