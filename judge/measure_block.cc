#include "judge/measure_block.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "judge/measure_elements.h"
#include "judge/measure_lanes.h"
#include "tensor/dtype.h"

namespace opbench {
namespace {

// Counts units of fp64 and of floats of one byte element by element, and fp16 or bf16 units of
// values that exceed fp32.
template <class T>
bool has_vector_units(DType common) {
  return common == DType::fp32 ||
         (std::is_same_v<T, float> && (common == DType::fp16 || common == DType::bf16));
}

BlockNumbers numbers_of(const BlockPlace& place, const float* actual, const float* expected,
                        bool wants_quotients) {
  return block_numbers(place.rules, {place.count, actual, expected, actual, expected,
                                     has_vector_units<float>(place.rules.common), wants_quotients});
}

BlockNumbers numbers_of(const BlockPlace& place, const double* actual, const double* expected) {
  const auto round = [&](const double* from, float* to) {
    std::transform(from, from + place.count, to, [](double v) { return static_cast<float>(v); });
  };
  float *const a = place.scratch.actual, *const e = place.scratch.expected;
  const bool has_units = has_vector_units<double>(place.rules.common);
  if (has_units) round(actual, a), round(expected, e);
  return block_numbers(place.rules, {place.count, actual, expected, a, e, has_units, false});
}

// Squares of fp32 values do not overflow in fp64, so only a NaN or an Inf makes their sum
// non-finite. Squares of fp64 values can overflow; these values are then measured one by one.
bool is_finite(const BlockNumbers& numbers) {
  return std::isfinite(numbers.actual_sq + numbers.expected_sq + numbers.error_sq);
}

// Squares of fp64 values can also underflow; these values are measured one by one, too.
bool keeps_squares(const BlockNumbers& numbers) {
  const auto keeps = [](double square, double sum) { return sum == 0 || square > 0x1p-960; };
  return keeps(numbers.expected_sq, numbers.expected_abs) &&
         keeps(numbers.error_sq, numbers.error) &&
         keeps(numbers.actual_sq, numbers.expected_abs + numbers.error);
}

template <class T>
void count_units(const BlockPlace& place, const T* actual, const T* expected, PairStats& stats) {
  const Tolerance& tolerance = place.rules.tolerance;
  stats.max_ulp = stats.sum_ulp = 0;
  stats.beyond_limit = 0;
  for (std::size_t i = 0; i < place.count; ++i) {
    const double a = actual[i], e = expected[i];
    const double ulp = ulp_distance(place.rules.common, a, e);
    stats.max_ulp = std::max(stats.max_ulp, ulp);
    stats.sum_ulp += ulp;
    stats.beyond_limit += std::fabs(a - e) > limit_at(tolerance, e) && ulp > tolerance.limit_ulp;
  }
}

// Examines the block again only if an element can be worse than all before.
template <class T>
void add_worst(const BlockPlace& place, const T* actual, const T* expected,
               const BlockNumbers& numbers, PairStats& stats) {
  const PairStats& before = place.before;
  const double error = numbers.max_error;
  // The quotients are exact to 2^-40.
  const bool is_worse = error > before.worst_abs.error ||
                        numbers.max_rel * (1 + 0x1p-30) > before.worst_rel.error ||
                        (stats.inside < stats.count && error > before.worst_outside.error) ||
                        (stats.beyond_limit > 0 && error > before.worst_beyond.error);
  if (!is_worse) return;
  for (std::size_t i = 0; i < place.count; ++i) {
    const double a = actual[i], e = expected[i], distance = std::fabs(a - e);
    const auto units = [&] {
      return is_floating(place.rules.common) ? ulp_distance(place.rules.common, a, e) : distance;
    };
    raise_worst(stats, place.rules, {place.first + static_cast<std::int64_t>(i), a, e, distance},
                units);
  }
}

// Adding 0.0 normalises -0, so min and max are unambiguous.
void set_range(ValueCounts& values, std::int64_t zeros, double min, double max) {
  values.zero = zeros;
  values.min = min + 0.0;
  values.max = max + 0.0;
}

template <class T>
PairStats stats_from(const BlockPlace& place, const T* actual, const T* expected,
                     const BlockNumbers& numbers) {
  PairStats stats;
  stats.count = static_cast<std::int64_t>(place.count);
  set_range(stats.actual, numbers.actual_zeros, numbers.actual_min, numbers.actual_max);
  set_range(stats.expected, numbers.expected_zeros, numbers.expected_min, numbers.expected_max);
  stats.unequal = numbers.unequal;
  stats.inside = numbers.inside;
  stats.beyond_limit = numbers.beyond;
  stats.sum_abs = numbers.error;
  stats.sum_rel = numbers.rel;
  stats.sum_sq = numbers.error_sq;
  stats.sum_actual_sq = numbers.actual_sq;
  stats.sum_expected_sq = numbers.expected_sq;
  stats.sum_product = numbers.product;
  stats.max_ulp = numbers.max_ulp;
  stats.sum_ulp = numbers.sum_ulp;
  stats.min_tolerance = numbers.min_tolerance;
  stats.scale = place.rules.scale;
  stats.histogram.exact = stats.count - stats.unequal;
  stats.histogram.counts.add(0, numbers.histogram[0] - stats.histogram.exact);
  for (std::size_t i = 1; i < numbers.histogram.size(); ++i) {
    stats.histogram.counts.add(i, numbers.histogram[i]);
  }
  if (stats.unequal == 0) return stats;
  const DType common = place.rules.common;
  if (is_floating(common) && !has_vector_units<T>(common)) {
    count_units(place, actual, expected, stats);
  }
  add_worst(place, actual, expected, numbers, stats);
  return stats;
}

// For values that are all finite although their squares are not, or underflow.
PairStats each_by_itself(const BlockPlace& place, const double* actual, const double* expected) {
  return measure_elements(place.rules, place.first, static_cast<std::int64_t>(place.count), actual,
                          expected);
}

// Measures zeros in place of pairs with a NaN or an Inf, then adds these pairs.
template <class T>
PairStats stats_with_others(const BlockPlace& place, const T* actual, const T* expected, T* clean_a,
                            T* clean_e) {
  const auto count = static_cast<std::int64_t>(place.count);
  for (std::int64_t i = 0; i < count; ++i) {
    const bool is_finite = std::isfinite(actual[i]) && std::isfinite(expected[i]);
    clean_a[i] = is_finite ? actual[i] : 0;
    clean_e[i] = is_finite ? expected[i] : 0;
  }
  BlockNumbers numbers;
  if constexpr (std::is_same_v<T, double>) {
    numbers = numbers_of(place, clean_a, clean_e);
    if (!is_finite(numbers)) return each_by_itself(place, actual, expected);
  } else {
    numbers = numbers_of(place, clean_a, clean_e, false);
  }
  PairStats stats = stats_from(place, clean_a, clean_e, numbers);
  stats.actual = counts_of(count, actual);
  stats.expected = counts_of(count, expected);
  for (std::int64_t i = 0; i < count; ++i) {
    if (std::isfinite(actual[i]) && std::isfinite(expected[i])) continue;
    // The zeros were counted as equal, inside and exact.
    --stats.histogram.exact;
    --stats.inside;
    add_nonfinite(stats, place.first + i, actual[i], expected[i]);
  }
  return stats;
}

// The sum of squared distances from the mean. It is computed from the sum of squares if that loses
// at most 6 of 53 bits, otherwise from another pass over the values.
double spread(double square_sum, double sum, std::size_t count, const float* values) {
  if (!std::isfinite(square_sum)) return std::numeric_limits<double>::quiet_NaN();
  const double mean = sum / static_cast<double>(count), difference = square_sum - sum * mean;
  return difference >= square_sum * 0x1p-6 ? difference : block_spread(mean, count, values);
}

// Restores a NaN that vector code may have lost in a minimum or maximum. A sum without negative
// terms keeps it.
double or_nan(double limit, double sum) { return std::isnan(sum) ? sum : limit; }

// Sums include NaN and Inf. Minima and maxima are NaN if any value is.
MsaccucmpSums sums_from(std::size_t count, const float* x, const float* y,
                        const BlockNumbers& numbers) {
  return {.count = static_cast<std::int64_t>(count),
          .xx = numbers.actual_sq,
          .yy = numbers.expected_sq,
          .xy = numbers.product,
          .diff_sq = numbers.error_sq,
          .diff_abs = numbers.error,
          .rel = numbers.quotient_sum,
          .max_diff = or_nan(numbers.max_error, numbers.error),
          .max_rel = or_nan(numbers.quotient_max, numbers.quotient_sum),
          .x_min = or_nan(numbers.actual_min, numbers.actual_sq),
          .x_max = or_nan(numbers.actual_max, numbers.actual_sq),
          .y_min = or_nan(numbers.expected_min, numbers.expected_sq),
          .y_max = or_nan(numbers.expected_max, numbers.expected_sq),
          .x_mean = numbers.actual / static_cast<double>(count),
          .y_mean = numbers.expected / static_cast<double>(count),
          .x_spread = spread(numbers.actual_sq, numbers.actual, count, x),
          .y_spread = spread(numbers.expected_sq, numbers.expected, count, y)};
}

}  // namespace

PairStats measure_block(const BlockPlace& place, const float* actual, const float* expected,
                        MsaccucmpSums* sums) {
  const BlockNumbers numbers = numbers_of(place, actual, expected, sums != nullptr);
  if (sums != nullptr) *sums = sums_from(place.count, actual, expected, numbers);
  if (is_finite(numbers)) return stats_from(place, actual, expected, numbers);
  return stats_with_others(place, actual, expected, place.scratch.finite_actual,
                           place.scratch.finite_expected);
}

PairStats measure_block(const BlockPlace& place, const double* actual, const double* expected) {
  const BlockNumbers numbers = numbers_of(place, actual, expected);
  if (!is_finite(numbers)) {
    return stats_with_others(place, actual, expected, place.scratch.wide_finite_actual,
                             place.scratch.wide_finite_expected);
  }
  if (!keeps_squares(numbers)) return each_by_itself(place, actual, expected);
  return stats_from(place, actual, expected, numbers);
}

MsaccucmpSums measure_block_sums(const BlockPlace& place, const float* x, const float* y) {
  return sums_from(place.count, x, y, numbers_of(place, x, y, true));
}

}  // namespace opbench
