#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "compare/standard/standard.h"
#include "tensor/dtype.h"
#include "tensor/elements.h"

namespace opbench {

/// How far actual values are from expected ones; a monoid under `merge`, so that blocks can be
/// measured in any order and joined in theirs.
///
/// Definitions: expected values are first rounded to the dtype. NaN agrees with NaN, Inf with the
/// Inf of its sign; any other pair with a NaN or Inf is a mismatch and enters no error. +0 = -0.
struct Stats {
  std::int64_t count = 0;
  std::int64_t nonfinite_mismatches = 0;
  std::int64_t nonfinite = 0;  ///< expected NaN and Inf
  std::int64_t zeros = 0;      ///< expected zeros
  std::int64_t inside = 0;     ///< within atol + rtol*|expected|, agreeing NaN and Inf included
  std::int64_t beyond_limit = 0;
  std::int64_t bit_mismatches = 0;  ///< only measure_bits: other bits, whatever the values
  double max_abs = 0;
  double max_ulp = 0;
  double sum_ulp = 0;
  /// Smallest t for which |actual - expected| <= t + t*|expected| holds everywhere.
  double min_tolerance = 0;
  double expected_min = 0, expected_max = 0;  ///< over finite values; see finite_count
  std::int64_t worst_index = -1;  ///< element with the largest ULP distance or first mismatch
  double worst_actual = 0, worst_expected = 0;

  std::int64_t finite_count() const { return count - nonfinite; }
  double mean_ulp() const;
  double inside_share() const;
  void merge(const Stats& later);
};

/// Measures elements `first`.. of a tensor of `dtype`: actual values as stored, expected ones in
/// fp64, not rounded.
Stats measure(DType dtype, const Tolerance& tolerance, std::int64_t first,
              std::span<const double> actual, std::span<const double> expected);

/// Measures elements of `dtype` that must agree bit for bit; with `any_nan`, a NaN is a NaN
/// whatever its payload. `actual` and `expected` are dense.
Stats measure_bits(DType dtype, bool any_nan, ElementRange range, const void* actual,
                   const void* expected);

enum class Verdict { passed, failed, mistrusted };

struct Judgement {
  Verdict verdict = Verdict::passed;
  std::string reason;  ///< the deciding number; empty for a plain pass
};

/// Passed if the tolerance holds; mistrusted if that proves little: constant output, mostly zeros,
/// nothing finite.
Judgement judge(const Stats& stats, const Tolerance& tolerance);

}  // namespace opbench
