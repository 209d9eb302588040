#include "judge/measure_elements.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <type_traits>

#include "dump/stored_visit.h"
#include "tensor/dtype.h"

namespace opbench {
namespace {

struct FinitePair {
  std::int64_t index;
  double actual, expected, error, ulp;
};

void raise_worst(WorstElement& worst, const FinitePair& pair, double error) {
  if (error > worst.error) worst = {pair.index, pair.actual, pair.expected, error};
}

void add_difference(PairStats& stats, const PairRules& rules, const FinitePair& pair) {
  const double size = std::fabs(pair.expected);
  const double rel = pair.error / std::max(size, rules.smallest);
  const Tolerance& tolerance = rules.tolerance;
  stats.unequal += 1;
  const bool is_inside = pair.error <= tolerance.atol + tolerance.rtol * size;
  const bool is_beyond =
      pair.error > limit_at(tolerance, pair.expected) && pair.ulp > tolerance.limit_ulp;
  stats.inside += is_inside;
  stats.beyond_limit += is_beyond;
  if (!is_inside) raise_worst(stats.worst_outside, pair, pair.error);
  if (is_beyond) raise_worst(stats.worst_beyond, pair, pair.error);
  raise_worst(stats.worst_abs, pair, pair.error);
  raise_worst(stats.worst_rel, pair, rel);
  stats.sum_abs += pair.error;
  stats.sum_rel += rel;
  stats.sum_sq += static_cast<long double>(pair.error) * pair.error;
  stats.max_ulp = std::max(stats.max_ulp, pair.ulp);
  stats.sum_ulp += pair.ulp;
  stats.min_tolerance =
      std::max(stats.min_tolerance, pair.error / std::max(rules.scale + size, DBL_MIN));
  stats.histogram.counts.add(static_cast<std::size_t>(histogram_bucket(pair.error)), 1);
}

void add_finite(PairStats& stats, const PairRules& rules, const FinitePair& pair, bool is_equal) {
  const long double actual = pair.actual, expected = pair.expected;
  stats.sum_actual_sq += actual * actual;
  stats.sum_expected_sq += expected * expected;
  stats.sum_product += actual * expected;
  if (!is_equal) return add_difference(stats, rules, pair);
  ++stats.histogram.exact;
  ++stats.inside;
}

PairStats open_stats(const PairRules& rules, std::int64_t count) {
  PairStats stats;
  stats.count = count;
  stats.scale = rules.scale;
  open_range(stats.actual);
  open_range(stats.expected);
  return stats;
}

void close_stats(PairStats& stats) {
  close_range(stats.actual);
  close_range(stats.expected);
}

double distance(WideInteger a, WideInteger b) { return static_cast<double>(a < b ? b - a : a - b); }

// Calls `f(i, value)` for whole numbers; others are never asked for.
template <class F>
void visit_integers(const ValueKind& kind, std::int64_t count, const void* from, F f) {
  visit_values(kind, [&]<class T>(T, auto value_of) {
    if constexpr (std::is_integral_v<decltype(value_of(T()))>) {
      const auto* typed = static_cast<const T*>(from);
      for (std::int64_t i = 0; i < count; ++i) f(i, static_cast<WideInteger>(value_of(typed[i])));
    }
  });
}

}  // namespace

void add_nonfinite(PairStats& stats, std::int64_t index, double actual, double expected) {
  const int nans = std::isnan(actual) + std::isnan(expected);
  if (nans == 2 || actual == expected) {
    ++stats.inside;
    return;
  }
  stats.nan_mismatches += nans == 1;
  stats.inf_mismatches += nans == 0;
  if (stats.first_mismatch < 0) {
    stats.first_mismatch = index;
    stats.mismatch_actual = actual;
    stats.mismatch_expected = expected;
  }
  ++stats.unequal;
}

void add_value(ValueCounts& values, double value) {
  values.nan += std::isnan(value);
  values.positive_inf += value == HUGE_VAL;
  values.negative_inf += value == -HUGE_VAL;
  values.zero += value == 0;
  if (!std::isfinite(value)) return;
  values.min = std::min(values.min, value);
  values.max = std::max(values.max, value);
}

void open_range(ValueCounts& values) {
  values.min = HUGE_VAL;
  values.max = -HUGE_VAL;
}

void close_range(ValueCounts& values) {
  const bool is_empty = values.min > values.max;
  values.min = is_empty ? 0 : values.min + 0.0;
  values.max = is_empty ? 0 : values.max + 0.0;
}

PairStats measure_doubles(const PairRules& rules, std::int64_t first, std::int64_t count,
                          const double* actual, const double* expected) {
  PairStats stats = open_stats(rules, count);
  for (std::int64_t i = 0; i < count; ++i) {
    const double a = actual[i], e = expected[i];
    add_value(stats.actual, a);
    add_value(stats.expected, e);
    if (!std::isfinite(a) || !std::isfinite(e)) {
      add_nonfinite(stats, first + i, a, e);
      continue;
    }
    const double ulp = a == e ? 0 : ulp_distance(rules.common, a, e);
    add_finite(stats, rules, {first + i, a, e, std::fabs(a - e), ulp}, a == e);
  }
  close_stats(stats);
  return stats;
}

PairStats measure_integers(const PairRules& rules, std::int64_t first, std::int64_t count,
                           const void* actual, const void* expected, WideInteger* scratch) {
  PairStats stats = open_stats(rules, count);
  visit_integers(rules.actual, count, actual,
                 [&](std::int64_t i, WideInteger value) { scratch[i] = value; });
  visit_integers(rules.expected, count, expected, [&](std::int64_t i, WideInteger e) {
    const WideInteger a = scratch[i];
    const auto a_value = static_cast<double>(a), e_value = static_cast<double>(e);
    const double error = distance(a, e);
    const double ulp =
        is_floating(rules.common) ? ulp_distance(rules.common, a_value, e_value) : error;
    add_value(stats.actual, a_value);
    add_value(stats.expected, e_value);
    add_finite(stats, rules, {first + i, a_value, e_value, error, ulp}, a == e);
  });
  close_stats(stats);
  return stats;
}

}  // namespace opbench
