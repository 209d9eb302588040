#include "judge/measure_elements.h"

#include <cfloat>
#include <type_traits>

#include "dump/stored_visit.h"
#include "tensor/dtype.h"

namespace opbench {
namespace {

void add_difference(PairStats& stats, const PairRules& rules, const FinitePair& pair) {
  const double size = std::fabs(pair.expected), error = pair.error;
  const double ulp =
      is_floating(rules.common) ? ulp_distance(rules.common, pair.actual, pair.expected) : error;
  const Tolerance& tolerance = rules.tolerance;
  stats.unequal += 1;
  stats.inside += is_inside(tolerance, error, pair.expected);
  stats.beyond_limit += error > limit_at(tolerance, pair.expected) && ulp > tolerance.limit_ulp;
  raise_worst(stats, rules, pair, [&] { return ulp; });
  stats.sum_abs += error;
  stats.sum_rel += error / std::max(size, rules.smallest);
  stats.sum_sq += static_cast<long double>(error) * error;
  stats.max_ulp = std::max(stats.max_ulp, ulp);
  stats.sum_ulp += ulp;
  stats.min_tolerance =
      std::max(stats.min_tolerance, error / std::max(rules.scale + size, DBL_MIN));
  stats.histogram.counts.add(static_cast<std::size_t>(histogram_bucket(error)), 1);
}

void add_finite(PairStats& stats, const PairRules& rules, const FinitePair& pair) {
  const long double actual = pair.actual, expected = pair.expected;
  stats.sum_actual_sq += actual * actual;
  stats.sum_expected_sq += expected * expected;
  stats.sum_product += actual * expected;
  if (pair.error > 0) return add_difference(stats, rules, pair);
  ++stats.histogram.exact;
  ++stats.inside;
}

// Calls `f(i, value)` for whole numbers; other kinds never get here.
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

PairStats measure_elements(const PairRules& rules, std::int64_t first, std::int64_t count,
                           const double* actual, const double* expected, const double* errors) {
  PairStats stats;
  stats.count = count;
  stats.scale = rules.scale;
  stats.actual = counts_of(count, actual);
  stats.expected = counts_of(count, expected);
  for (std::int64_t i = 0; i < count; ++i) {
    const double a = actual[i], e = expected[i];
    if (!std::isfinite(a) || !std::isfinite(e)) {
      add_nonfinite(stats, first + i, a, e);
    } else {
      add_finite(stats, rules, {first + i, a, e, errors == nullptr ? std::fabs(a - e) : errors[i]});
    }
  }
  return stats;
}

void integer_errors(const PairRules& rules, std::int64_t count, const void* actual,
                    const void* expected, WideInteger* scratch, double* errors) {
  visit_integers(rules.actual, count, actual,
                 [&](std::int64_t i, WideInteger a) { scratch[i] = a; });
  visit_integers(rules.expected, count, expected, [&](std::int64_t i, WideInteger e) {
    const WideInteger a = scratch[i];
    errors[i] = static_cast<double>(a < e ? e - a : a - e);
  });
}

}  // namespace opbench
