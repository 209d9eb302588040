#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "judge/measure_chunk.h"
#include "judge/pair_rules.h"

namespace opbench {

/// The sums over a block that are taken in fp64; meaningless where a value is not finite, which
/// makes `actual_sq` or `expected_sq` Inf or NaN.
struct BlockSums {
  double actual = 0, expected = 0;
  double actual_sq = 0, expected_sq = 0, product = 0;
  double expected_abs = 0;
  double error = 0, error_sq = 0, rel = 0;
  double max_error = 0;
  double max_rel = 0;  ///< within 2^-40 of itself
  std::int64_t inside = 0;
  std::array<std::int64_t, ErrorHistogram::kBuckets> histogram{};  ///< no error: the first bucket
};

/// What is counted and compared as it is.
struct BlockRange {
  double actual_min = 0, actual_max = 0, expected_min = 0, expected_max = 0;
  std::int64_t actual_zeros = 0, expected_zeros = 0, unequal = 0;
};

/// msaccucmp's |x/y - 1| in float32.
struct BlockRelative {
  double sum = 0, max = 0;
};

struct BlockUlp {
  double max = 0, sum = 0;
};

// Vector code for one block of 1 to kMeasureBlock elements. Counts, maxima and indices are the same
// with every instruction set, sums up to the order of addition.

BlockSums block_sums(const PairRules& rules, std::size_t count, const float* actual,
                     const float* expected);
BlockSums block_sums(const PairRules& rules, std::size_t count, const double* actual,
                     const double* expected);

BlockRange block_range(std::size_t count, const float* actual, const float* expected);
BlockRange block_range(std::size_t count, const double* actual, const double* expected);

BlockRelative block_relative(std::size_t count, const float* x, const float* y);

/// Distances in units of fp32, fp16 or bf16, each written to `distances` (room for a whole block).
BlockUlp block_ulp(DType dtype, std::size_t count, const float* actual, const float* expected,
                   std::uint32_t* distances);

/// How many are off by more than both limits, in value and in units; `distances` are the block's,
/// counted up to 2^31 - 1, or null where a unit is 1.
std::int64_t block_beyond(const Tolerance& tolerance, std::size_t count, const float* actual,
                          const float* expected, const std::uint32_t* distances);
std::int64_t block_beyond(const Tolerance& tolerance, std::size_t count, const double* actual,
                          const double* expected, const std::uint32_t* distances);

/// The largest |actual - expected| / (scale + |expected|); 0 where both are 0.
double block_min_tolerance(double scale, std::size_t count, const float* actual,
                           const float* expected);
double block_min_tolerance(double scale, std::size_t count, const double* actual,
                           const double* expected);

/// The sum of (value - mean)^2.
double block_spread(double mean, std::size_t count, const float* values);

/// The first element whose absolute error is `error`.
std::size_t find_error(double error, std::size_t count, const float* actual, const float* expected);
std::size_t find_error(double error, std::size_t count, const double* actual,
                       const double* expected);

/// The first element whose relative error is largest; `error` becomes that error.
std::size_t find_worst_rel(const PairRules& rules, std::size_t count, const float* actual,
                           const float* expected, double& error);
std::size_t find_worst_rel(const PairRules& rules, std::size_t count, const double* actual,
                           const double* expected, double& error);

KlSums block_kl(const KlScales& scales, std::size_t count, const float* x, const float* y);

}  // namespace opbench
