#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "judge/pair_rules.h"
#include "judge/pair_stats.h"

namespace opbench {

/// One element at a time, whatever the values: what vector code must agree with, and what it leaves
/// to this. `first` is the index of the first element in its tensor; `errors` are what the values
/// are apart where fp64 does not hold them, else null.
PairStats measure_elements(const PairRules& rules, std::int64_t first, std::int64_t count,
                           const double* actual, const double* expected,
                           const double* errors = nullptr);

/// Integers in a type that holds every difference of theirs.
__extension__ using WideInteger = __int128;

/// How far whole numbers of any width are apart, stored as `rules` say: subtracted exactly.
/// `scratch` has room for them.
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

/// Notes a pair where it is the worst so far; `units()` are those that it is off. What `stats`
/// count inside and beyond the limit includes it.
template <class Units>
void raise_worst(PairStats& stats, const PairRules& rules, const FinitePair& pair, Units units) {
  const auto raise = [&pair](WorstElement& worst, double error) {
    worst = {pair.index, pair.actual, pair.expected, error};
  };
  const double error = pair.error, divisor = std::max(std::fabs(pair.expected), rules.smallest);
  if (error > stats.worst_abs.error) raise(stats.worst_abs, error);
  // Divided only where the quotient may be the largest, which is seldom; both sides may be Inf.
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
  // Adding 0 makes -0 a 0: which of both is smaller nobody says.
  if (min <= max) found.min = min + 0.0, found.max = max + 0.0;
  return found;
}

}  // namespace opbench
