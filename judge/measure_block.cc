#include "judge/measure_block.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "judge/measure_elements.h"
#include "judge/measure_vector.h"
#include "tensor/dtype.h"

namespace opbench {
namespace {

// Squares of fp32 values do not overflow in fp64: only a NaN or an Inf spoils their sum. Those of
// fp64 values may, and are then measured one by one.
bool is_finite(const BlockSums& sums) {
  return std::isfinite(sums.actual_sq + sums.expected_sq + sums.error_sq);
}

// Squares of fp64 values may also be lost: then too.
bool keeps_squares(const BlockSums& sums) {
  const auto keeps = [](double square, double sum) { return sum == 0 || square > 0x1p-960; };
  return keeps(sums.expected_sq, sums.expected_abs) && keeps(sums.error_sq, sums.error) &&
         keeps(sums.actual_sq, sums.expected_abs + sums.error);
}

// fp64 units, and fp16 or bf16 ones of values that fp32 does not hold, are counted one by one.
template <class T>
bool has_vector_ulp(DType common) {
  return common == DType::fp32 || (std::is_same_v<T, float> && common != DType::fp64);
}

const float* as_floats(const float* values, std::size_t, float*) { return values; }

const float* as_floats(const double* values, std::size_t count, float* scratch) {
  std::transform(values, values + count, scratch, [](double v) { return static_cast<float>(v); });
  return scratch;
}

template <class T>
void add_scalar_ulp(const BlockPlace& place, const T* actual, const T* expected, PairStats& stats) {
  const Tolerance& tolerance = place.rules.tolerance;
  for (std::size_t i = 0; i < place.count; ++i) {
    const double a = actual[i], e = expected[i];
    const double ulp = ulp_distance(place.rules.common, a, e);
    stats.max_ulp = std::max(stats.max_ulp, ulp);
    stats.sum_ulp += ulp;
    stats.beyond_limit += std::fabs(a - e) > limit_at(tolerance, e) && ulp > tolerance.limit_ulp;
  }
}

template <class T>
void add_vector_ulp(const BlockPlace& place, const T* actual, const T* expected,
                    const BlockSums& sums, PairStats& stats) {
  const Tolerance& tolerance = place.rules.tolerance;
  const bool is_integer = !is_floating(place.rules.common);
  BlockUlp ulp{sums.max_error, sums.error};
  if (!is_integer) {
    ulp = block_ulp(
        place.rules.common, place.count, as_floats(actual, place.count, place.scratch.actual),
        as_floats(expected, place.count, place.scratch.expected), place.scratch.distances);
  }
  stats.max_ulp = ulp.max;
  stats.sum_ulp = ulp.sum;
  if (sums.max_error > tolerance.limit && ulp.max > tolerance.limit_ulp) {
    stats.beyond_limit = block_beyond(tolerance, place.count, actual, expected,
                                      is_integer ? nullptr : place.scratch.distances);
  }
}

template <class T>
void add_ulp(const BlockPlace& place, const T* actual, const T* expected, const BlockSums& sums,
             PairStats& stats) {
  // Vector code counts distances up to this.
  constexpr double kLargestDistance = 0x7FFFFFFF;
  const bool is_integer = !is_floating(place.rules.common);
  if (is_integer || (has_vector_ulp<T>(place.rules.common) &&
                     place.rules.tolerance.limit_ulp < kLargestDistance)) {
    return add_vector_ulp(place, actual, expected, sums, stats);
  }
  add_scalar_ulp(place, actual, expected, stats);
}

// The element with the largest error above `before`'s of those for which `counts(i, error)`; index
// -1 where there is none.
template <class T, class Counts>
WorstElement find_worst(const BlockPlace& place, const T* actual, const T* expected,
                        const WorstElement& before, Counts counts) {
  WorstElement worst;
  double most = before.error;
  for (std::size_t i = 0; i < place.count; ++i) {
    const double a = actual[i], e = expected[i], error = std::fabs(a - e);
    if (!(error > most) || !counts(i, error)) continue;
    worst = {place.first + static_cast<std::int64_t>(i), a, e, error};
    most = error;
  }
  return worst;
}

// What reasons of failures name; only where some were counted.
template <class T>
void add_worst_failures(const BlockPlace& place, const T* actual, const T* expected,
                        const BlockSums& sums, PairStats& stats) {
  const Tolerance& tolerance = place.rules.tolerance;
  const WorstElement& outside = place.before.worst_outside;
  if (stats.inside < stats.count && sums.max_error > outside.error) {
    const auto is_outside = [&](std::size_t i, double error) {
      return !(error <= tolerance.atol + tolerance.rtol * std::fabs(double(expected[i])));
    };
    stats.worst_outside = find_worst(place, actual, expected, outside, is_outside);
  }
  const WorstElement& beyond = place.before.worst_beyond;
  if (stats.beyond_limit > 0 && sums.max_error > beyond.error) {
    const bool is_integer = !is_floating(place.rules.common);
    const auto is_beyond = [&](std::size_t i, double error) {
      const double ulp =
          is_integer ? error : ulp_distance(place.rules.common, actual[i], expected[i]);
      return error > limit_at(tolerance, expected[i]) && ulp > tolerance.limit_ulp;
    };
    stats.worst_beyond = find_worst(place, actual, expected, beyond, is_beyond);
  }
}

template <class T>
void add_worst(const BlockPlace& place, const T* actual, const T* expected, const BlockSums& sums,
               PairStats& stats) {
  const auto element = [&](std::size_t i, double error) -> WorstElement {
    return {place.first + static_cast<std::int64_t>(i), actual[i], expected[i], error};
  };
  if (sums.max_error > place.before.worst_abs.error) {
    const std::size_t i = find_error(sums.max_error, place.count, actual, expected);
    stats.worst_abs = element(i, sums.max_error);
  }
  // The sums' quotients are good to 2^-40.
  if (sums.max_rel * (1 + 0x1p-30) > place.before.worst_rel.error) {
    double error = 0;
    const std::size_t i = find_worst_rel(place.rules, place.count, actual, expected, error);
    if (error > place.before.worst_rel.error) stats.worst_rel = element(i, error);
  }
}

// Adding 0 makes -0 a 0: which of both is smaller nobody says.
void set_range(ValueCounts& values, std::int64_t zeros, double min, double max) {
  values.zero = zeros;
  values.min = min + 0.0;
  values.max = max + 0.0;
}

// No |actual - expected| / (scale + |expected|) of the block is above this.
double largest_quotient(const PairRules& rules, const BlockSums& sums) {
  const double by_scale = rules.scale > 0 ? sums.max_error / rules.scale : HUGE_VAL;
  // The sums' quotients are good to 2^-40.
  const double by_value = rules.scale >= rules.smallest ? sums.max_rel * (1 + 0x1p-30) : HUGE_VAL;
  return std::min(by_scale, by_value);
}

template <class T>
PairStats stats_from(const BlockPlace& place, const T* actual, const T* expected,
                     const BlockSums& sums, const BlockRange& range) {
  PairStats stats;
  stats.count = static_cast<std::int64_t>(place.count);
  set_range(stats.actual, range.actual_zeros, range.actual_min, range.actual_max);
  set_range(stats.expected, range.expected_zeros, range.expected_min, range.expected_max);
  stats.unequal = range.unequal;
  stats.inside = sums.inside;
  stats.sum_abs = sums.error;
  stats.sum_rel = sums.rel;
  stats.sum_sq = sums.error_sq;
  stats.sum_actual_sq = sums.actual_sq;
  stats.sum_expected_sq = sums.expected_sq;
  stats.sum_product = sums.product;
  stats.scale = place.rules.scale;
  stats.histogram.exact = stats.count - range.unequal;
  stats.histogram.counts.add(0, sums.histogram[0] - stats.histogram.exact);
  for (std::size_t i = 1; i < sums.histogram.size(); ++i) {
    stats.histogram.counts.add(i, sums.histogram[i]);
  }
  if (range.unequal == 0) return stats;
  add_ulp(place, actual, expected, sums, stats);
  add_worst(place, actual, expected, sums, stats);
  add_worst_failures(place, actual, expected, sums, stats);
  if (largest_quotient(place.rules, sums) > place.before.min_tolerance) {
    stats.min_tolerance = block_min_tolerance(place.rules.scale, place.count, actual, expected);
  }
  return stats;
}

// What pairs with a NaN or an Inf add, and the ranges that were taken with them.
void add_others(PairStats& stats, const PairStats& others) {
  const auto add = [](ValueCounts& values, const ValueCounts& more) {
    const std::int64_t zeros = values.zero + more.zero;
    values = more;
    values.zero = zeros;
  };
  add(stats.actual, others.actual);
  add(stats.expected, others.expected);
  stats.nan_mismatches = others.nan_mismatches;
  stats.inf_mismatches = others.inf_mismatches;
  stats.first_mismatch = others.first_mismatch;
  stats.mismatch_actual = others.mismatch_actual;
  stats.mismatch_expected = others.mismatch_expected;
  stats.unequal += others.unequal;
  stats.inside += others.inside;
}

// Values that are all finite although their squares are not.
PairStats large_stats(const BlockPlace& place, const double* actual, const double* expected) {
  return measure_doubles(place.rules, place.first, static_cast<std::int64_t>(place.count), actual,
                         expected);
}

PairStats large_stats(const BlockPlace&, const float*, const float*) { return {}; }  // never

// Moves pairs without a NaN or an Inf, with zeros in the place of others, and adds the others.
template <class T>
std::int64_t take_finite(const BlockPlace& place, const T* actual, const T* expected,
                         T* finite_actual, T* finite_expected, PairStats& others) {
  std::int64_t taken = 0;
  for (std::size_t i = 0; i < place.count; ++i) {
    const T a = actual[i], e = expected[i];
    const bool is_finite = std::isfinite(a) && std::isfinite(e);
    finite_actual[i] = is_finite ? a : 0;
    finite_expected[i] = is_finite ? e : 0;
    taken += is_finite;
    if (is_finite) continue;
    add_nonfinite(others, place.first + static_cast<std::int64_t>(i), a, e);
    add_value(others.actual, a);
    add_value(others.expected, e);
  }
  return taken;
}

// The range without the zeros that stand for something else.
template <class T>
void add_range(ValueCounts& values, std::size_t count, const T* all) {
  T min = static_cast<T>(HUGE_VAL), max = -min;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_finite = std::isfinite(all[i]);
    min = is_finite && all[i] < min ? all[i] : min;
    max = is_finite && all[i] > max ? all[i] : max;
  }
  values.min = std::min<double>(values.min, min);
  values.max = std::max<double>(values.max, max);
  close_range(values);
}

template <class T>
PairStats stats_with_others(const BlockPlace& place, const T* actual, const T* expected, T* clean_a,
                            T* clean_e) {
  PairStats others;
  open_range(others.actual);
  open_range(others.expected);
  const std::int64_t taken = take_finite(place, actual, expected, clean_a, clean_e, others);
  const BlockSums sums = block_sums(place.rules, place.count, clean_a, clean_e);
  if (!is_finite(sums)) return large_stats(place, actual, expected);
  const BlockRange range = block_range(place.count, clean_a, clean_e);
  PairStats stats = stats_from(place, clean_a, clean_e, sums, range);
  // The zeros were equal, inside and exact.
  const std::int64_t zeros = stats.count - taken;
  stats.actual.zero -= zeros;
  stats.expected.zero -= zeros;
  stats.histogram.exact -= zeros;
  stats.inside -= zeros;
  add_range(others.actual, place.count, actual);
  add_range(others.expected, place.count, expected);
  add_others(stats, others);
  return stats;
}

PairStats careful_stats(const BlockPlace& place, const float* actual, const float* expected) {
  return stats_with_others(place, actual, expected, place.scratch.finite_actual,
                           place.scratch.finite_expected);
}

PairStats careful_stats(const BlockPlace& place, const double* actual, const double* expected) {
  return stats_with_others(place, actual, expected, place.scratch.wide_finite_actual,
                           place.scratch.wide_finite_expected);
}

// The sum of squared distances from the mean, from the sum of squares where that costs no more than
// 6 of its 53 bits, else with another look at the values.
double spread(double square_sum, double sum, std::size_t count, const float* values) {
  if (!std::isfinite(square_sum)) return std::numeric_limits<double>::quiet_NaN();
  const double mean = sum / static_cast<double>(count), difference = square_sum - sum * mean;
  return difference >= square_sum * 0x1p-6 ? difference : block_spread(mean, count, values);
}

// A minimum or maximum that vector code may have lost a NaN of; a sum without negative terms has
// not.
double or_nan(double limit, double sum) { return std::isnan(sum) ? sum : limit; }

// Sums are what they are with NaN and Inf among the values; minima and maxima are NaN if any is.
MsaccucmpSums sums_from(std::size_t count, const float* x, const float* y, const BlockSums& sums,
                        const BlockRange& range) {
  const BlockRelative relative = block_relative(count, x, y);
  return {.count = static_cast<std::int64_t>(count),
          .xx = sums.actual_sq,
          .yy = sums.expected_sq,
          .xy = sums.product,
          .diff_sq = sums.error_sq,
          .diff_abs = sums.error,
          .rel = relative.sum,
          .max_diff = or_nan(sums.max_error, sums.error),
          .max_rel = or_nan(relative.max, relative.sum),
          .x_min = or_nan(range.actual_min, sums.actual_sq),
          .x_max = or_nan(range.actual_max, sums.actual_sq),
          .y_min = or_nan(range.expected_min, sums.expected_sq),
          .y_max = or_nan(range.expected_max, sums.expected_sq),
          .x_mean = sums.actual / static_cast<double>(count),
          .y_mean = sums.expected / static_cast<double>(count),
          .x_spread = spread(sums.actual_sq, sums.actual, count, x),
          .y_spread = spread(sums.expected_sq, sums.expected, count, y)};
}

}  // namespace

PairStats measure_block(const BlockPlace& place, const float* actual, const float* expected) {
  const BlockSums sums = block_sums(place.rules, place.count, actual, expected);
  if (!is_finite(sums)) return careful_stats(place, actual, expected);
  return stats_from(place, actual, expected, sums, block_range(place.count, actual, expected));
}

PairStats measure_block(const BlockPlace& place, const double* actual, const double* expected) {
  const BlockSums sums = block_sums(place.rules, place.count, actual, expected);
  if (!is_finite(sums)) return careful_stats(place, actual, expected);
  if (!keeps_squares(sums)) return large_stats(place, actual, expected);
  return stats_from(place, actual, expected, sums, block_range(place.count, actual, expected));
}

MsaccucmpSums measure_block_sums(const BlockPlace& place, const float* x, const float* y) {
  return sums_from(place.count, x, y, block_sums(place.rules, place.count, x, y),
                   block_range(place.count, x, y));
}

void measure_block(const BlockPlace& place, const float* x, const float* y, PairStats& stats,
                   MsaccucmpSums& sums) {
  const BlockSums found = block_sums(place.rules, place.count, x, y);
  const BlockRange range = block_range(place.count, x, y);
  stats = is_finite(found) ? stats_from(place, x, y, found, range) : careful_stats(place, x, y);
  sums = sums_from(place.count, x, y, found, range);
}

}  // namespace opbench
