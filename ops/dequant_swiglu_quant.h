#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "ops/attrs.h"
#include "ops/op.h"

namespace opbench {

/// The inputs of dequant_swiglu_quant.
enum DequantInput : std::size_t {
  kDequantX,
  kWeightScale,
  kActivationScale,
  kQuantScale,
  kQuantOffset,
  kGroupIndex
};

/// The gated activation of one pair of numbers.
struct GateRule {
  bool is_clipped, is_interleaved, activates_left, is_dynamic;
  double limit, alpha, bias;

  explicit GateRule(const Attrs& attrs);

  /// The places of the activated and of the other number among the 2*width numbers of a row.
  std::int64_t activated(std::int64_t i, std::int64_t width) const {
    if (is_interleaved) return 2 * i;
    return is_clipped || activates_left ? i : width + i;
  }
  std::int64_t other(std::int64_t i, std::int64_t width) const {
    if (is_interleaved) return 2 * i + 1;
    return is_clipped || activates_left ? width + i : i;
  }

  template <class T>
  T operator()(T a, T b) const {
    if (!is_clipped) return a / (1 + std::exp(-a)) * b;
    const T most = static_cast<T>(limit);
    a = std::min(a, most);
    b = std::clamp(b, -most, most);
    return a / (1 + std::exp(static_cast<T>(-alpha) * a)) * (b + static_cast<T>(bias));
  }
  /// The size of the terms that make the result.
  double terms(double a, double b) const {
    if (!is_clipped) return std::fabs((*this)(a, b)) * (1 + std::fabs(a));
    const double gate = std::fmin(a, limit);
    return std::fabs(gate / (1 + std::exp(-alpha * gate))) * (1 + std::fabs(alpha * gate)) *
           (std::fmin(std::fabs(b), limit) + std::fabs(bias));
  }
};

/// The group of each row, from the counts of `group_index`; -1 for rows that belong to none.
std::vector<std::int64_t> groups_of_rows(std::span<const std::int64_t> counts, std::int64_t rows);

/// Rows and output columns of a use.
struct GateShape {
  std::int64_t rows, width;
};
GateShape gate_shape(const TensorDesc& x);

}  // namespace opbench
