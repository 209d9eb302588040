#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "judge/pair_rules.h"

namespace opbench {

/// Elements that are measured together; they stay in the cache from one metric to the next. The
/// size affects the result: sums of blocks are added in their order.
inline constexpr std::int64_t kMeasureBlock = 4096;

/// Numbers of both sides of a block, found in one pass. If a value is not finite, `actual_sq` or
/// `expected_sq` is Inf or NaN, and sums, minima and maxima are undefined.
struct BlockNumbers {
  double actual = 0, expected = 0;
  double actual_sq = 0, expected_sq = 0, product = 0;
  double expected_abs = 0;
  double error = 0, error_sq = 0, rel = 0;
  double max_error = 0;
  double max_rel = 0;        ///< within 2^-40 of itself
  double min_tolerance = 0;  ///< the largest |actual - expected| / (scale + |expected|)
  double max_ulp = 0, sum_ulp = 0;
  double actual_min = 0, actual_max = 0, expected_min = 0, expected_max = 0;
  std::int64_t actual_zeros = 0, expected_zeros = 0, unequal = 0;
  std::int64_t inside = 0, beyond = 0;
  std::array<std::int64_t, ErrorHistogram::kBuckets> histogram{};  ///< no error: the first bucket
  double quotient_sum = 0, quotient_max = 0;  ///< msaccucmp's |x/y - 1| in float32
};

/// A block of 1 to kMeasureBlock elements.
template <class T>
struct BlockValues {
  std::size_t count = 0;
  const T* actual = nullptr;
  const T* expected = nullptr;
  /// Values rounded to fp32, whose units are counted if `has_units`; otherwise a unit is 1.
  const float* actual_floats = nullptr;
  const float* expected_floats = nullptr;
  bool has_units = false;
  bool wants_quotients = false;
};

/// The scales of both sides for the second pass.
struct KlScales {
  KlScale x, y;
};

/// The sums of the second pass: kl_x, kl_y and kl_log.
struct KlSums {
  double x = 0, y = 0, log = 0;

  void merge(const KlSums& later);
};

// Vector code. Counts, maxima and indices are the same with every instruction set; sums differ only
// by the order of addition.

BlockNumbers block_numbers(const PairRules& rules, const BlockValues<float>& values);
BlockNumbers block_numbers(const PairRules& rules, const BlockValues<double>& values);

/// The sum of (value - mean)^2.
double block_spread(double mean, std::size_t count, const float* values);

KlSums block_kl(const KlScales& scales, std::size_t count, const float* x, const float* y);

}  // namespace opbench
