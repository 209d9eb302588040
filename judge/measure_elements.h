#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "judge/pair_rules.h"
#include "judge/pair_stats.h"

namespace opbench {

/// Measures one element at a time, for any values. Vector code must agree with it, and uses it for
/// special values. `first` is the index of the first element in its tensor. `errors` are the
/// distances of values if fp64 cannot represent them, else null.
PairStats measure_elements(const PairRules& rules, std::int64_t first, std::int64_t count,
                           const double* actual, const double* expected,
                           const double* errors = nullptr);

/// An integer type that can represent every difference of 64-bit integers.
__extension__ using WideInteger = __int128;

/// Distances of whole numbers of any width, stored as in `rules`, by exact subtraction. `scratch`
/// has room for them.
void integer_errors(const PairRules& rules, std::int64_t count, const void* actual,
                    const void* expected, WideInteger* scratch, double* errors);

inline bool is_inside(const Tolerance& tolerance, double error, double expected) {
  return error <= tolerance.atol + tolerance.rtol * std::fabs(expected);
}

/// Two finite values of one element.
struct FinitePair {
  std::int64_t index;
  double actual, expected, error;
};

/// Stores a pair if it is the worst so far; `units()` is its error in units. The counts in `stats`
/// inside and beyond the limit must include it.
template <class Units>
void raise_worst(PairStats& stats, const PairRules& rules, const FinitePair& pair, Units units) {
  const auto raise = [&pair](WorstElement& worst, double error) {
    worst = {pair.index, pair.actual, pair.expected, error};
  };
  const double error = pair.error, divisor = std::max(std::fabs(pair.expected), rules.smallest);
  if (error > stats.worst_abs.error) raise(stats.worst_abs, error);
  // Divides only if the quotient can be the largest, which is rare. Both sides may be Inf.
  if (error >= stats.worst_rel.error * divisor * (1 - 0x1p-40)) {
    const double rel = error / divisor;
    if (rel > stats.worst_rel.error) raise(stats.worst_rel, rel);
  }
  if (stats.inside < stats.count && error > stats.worst_outside.error &&
      !is_inside(rules.tolerance, error, pair.expected)) {
    raise(stats.worst_outside, error);
  }
  if (stats.beyond_limit > 0 && error > stats.worst_beyond.error &&
      error > limit_at(rules.tolerance, pair.expected) && units() > rules.tolerance.limit_ulp) {
    raise(stats.worst_beyond, error);
  }
}

/// Adds a pair with a NaN or an Inf, but not its values.
void add_nonfinite(PairStats& stats, std::int64_t index, double actual, double expected);

/// Counts the values of one side.
template <class T>
ValueCounts counts_of(std::int64_t count, const T* values) {
  ValueCounts found;
  T min = static_cast<T>(HUGE_VAL), max = -min;
  for (std::int64_t i = 0; i < count; ++i) {
    const T value = values[i];
    found.zero += value == 0;
    if (std::isfinite(value)) {
      min = std::min(min, value);
      max = std::max(max, value);
      continue;
    }
    found.nan += std::isnan(value);
    found.positive_inf += value > 0;
    found.negative_inf += value < 0;
  }
  // Adding 0.0 normalises -0, so min and max are unambiguous.
  if (min <= max) found.min = min + 0.0, found.max = max + 0.0;
  return found;
}

}  // namespace opbench
