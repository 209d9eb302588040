#include "compare/judge/stats.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "compare/standard/ulp.h"
#include "tensor/elements.h"

namespace opbench {
namespace {

// A mismatch is worse than any distance.
constexpr double kMismatchUlp = HUGE_VAL;

bool agree_nonfinite(double actual, double expected) {
  return (std::isnan(actual) && std::isnan(expected)) || actual == expected;
}

// A pair with a NaN or Inf; true if it agrees.
bool add_nonfinite(Stats& stats, double actual, double expected) {
  stats.nonfinite += !std::isfinite(expected);
  const bool agrees = agree_nonfinite(actual, expected);
  stats.inside += agrees;
  stats.nonfinite_mismatches += !agrees;
  return agrees;
}

// A finite pair that differs; returns its distance in ULP.
double add_difference(Stats& stats, DType dtype, const Tolerance& tolerance, double actual,
                      double expected) {
  const double error = std::fabs(actual - expected), size = std::fabs(expected);
  const double ulp = ulp_distance(dtype, actual, expected);
  stats.inside += error <= tolerance.atol + tolerance.rtol * size;
  stats.beyond_limit += error > tolerance.limit && ulp > tolerance.limit_ulp;
  stats.max_abs = std::max(stats.max_abs, error);
  stats.max_ulp = std::max(stats.max_ulp, ulp);
  stats.sum_ulp += ulp;
  // The same as a maximum of quotients, with a division only where it grows.
  if (error > stats.min_tolerance * (1 + size)) stats.min_tolerance = error / (1 + size);
  return ulp;
}

// One element that is not simply equal; returns its distance in ULP.
double add_unequal(Stats& stats, DType dtype, const Tolerance& tolerance, double actual,
                   double expected) {
  if (!std::isfinite(expected) || !std::isfinite(actual)) {
    return add_nonfinite(stats, actual, expected) ? 0 : kMismatchUlp;
  }
  return add_difference(stats, dtype, tolerance, actual, expected);
}

// What can be told of all elements without a branch on the data: range and zeros of the finite
// expected values, and which elements need a closer look. Mispredicted branches would cost more
// than all the rest.
void survey(Stats& stats, std::span<const double> actual, std::span<const double> expected,
            std::vector<std::size_t>& unequal) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  double low = HUGE_VAL, high = -HUGE_VAL;
  std::size_t zeros = 0, found = 0;
  unequal.resize(actual.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double value = expected[i];
    const bool is_finite = std::fabs(value) <= kLargest;
    low = is_finite && value < low ? value : low;
    high = is_finite && value > high ? value : high;
    zeros += value == 0;
    unequal[found] = i;
    found += !(is_finite && actual[i] == value);
  }
  unequal.resize(found);
  stats.count = static_cast<std::int64_t>(actual.size());
  stats.inside = static_cast<std::int64_t>(actual.size() - found);
  stats.zeros = static_cast<std::int64_t>(zeros);
  stats.expected_min = low;
  stats.expected_max = high;
}

// `expected` as values of `dtype`: half a unit of the format is not the kernel's error.
void round_to(DType dtype, std::span<const double> expected, std::vector<double>& rounded) {
  thread_local std::vector<std::byte> bits;
  const auto count = static_cast<std::int64_t>(expected.size());
  bits.resize(expected.size() * size_of(dtype));
  rounded.resize(expected.size());
  from_doubles(dtype, expected.data(), count, bits.data());
  to_doubles(dtype, bits.data(), count, rounded.data());
}

// How far apart two values are that should have had the same bits.
void add_bit_mismatch(Stats& stats, DType dtype, double actual, double expected) {
  if (!std::isfinite(actual) || !std::isfinite(expected)) {
    stats.nonfinite_mismatches += !agree_nonfinite(actual, expected);
    return;
  }
  const double error = std::fabs(actual - expected);
  const double ulp = ulp_distance(dtype, actual, expected);
  stats.max_abs = std::max(stats.max_abs, error);
  stats.max_ulp = std::max(stats.max_ulp, ulp);
  stats.sum_ulp += ulp;
  stats.min_tolerance = std::max(stats.min_tolerance, error / (1 + std::fabs(expected)));
}

// printf would show the sign of a NaN, which means nothing.
std::string number_text(double value) {
  return std::isnan(value) ? "NaN" : fmt::format("{:.9g}", value);
}

double rank_of_worst(const Stats& stats) {
  if (stats.worst_index < 0) return -1;
  if (stats.bit_mismatches > 0) return kMismatchUlp;
  return stats.nonfinite_mismatches > 0 ? kMismatchUlp : stats.max_ulp;
}

}  // namespace

double Stats::mean_ulp() const { return count == 0 ? 0 : sum_ulp / double(count); }

double Stats::inside_share() const { return count == 0 ? 1 : double(inside) / double(count); }

void Stats::merge(const Stats& later) {
  if (rank_of_worst(later) > rank_of_worst(*this)) {
    worst_index = later.worst_index;
    worst_actual = later.worst_actual;
    worst_expected = later.worst_expected;
  }
  if (later.finite_count() > 0) {
    const bool first = finite_count() == 0;
    expected_min = first ? later.expected_min : std::min(expected_min, later.expected_min);
    expected_max = first ? later.expected_max : std::max(expected_max, later.expected_max);
  }
  count += later.count;
  nonfinite_mismatches += later.nonfinite_mismatches;
  bit_mismatches += later.bit_mismatches;
  nonfinite += later.nonfinite;
  zeros += later.zeros;
  inside += later.inside;
  beyond_limit += later.beyond_limit;
  max_abs = std::max(max_abs, later.max_abs);
  max_ulp = std::max(max_ulp, later.max_ulp);
  sum_ulp += later.sum_ulp;
  min_tolerance = std::max(min_tolerance, later.min_tolerance);
}

Stats measure(DType dtype, const Tolerance& tolerance, std::int64_t first,
              std::span<const double> actual, std::span<const double> expected) {
  Stats stats;
  thread_local std::vector<double> rounded;
  thread_local std::vector<std::size_t> unequal;
  round_to(dtype, expected, rounded);
  survey(stats, actual, rounded, unequal);
  double worst = 0;
  for (const std::size_t i : unequal) {
    const double ulp = add_unequal(stats, dtype, tolerance, actual[i], rounded[i]);
    if (ulp <= worst) continue;
    worst = ulp;
    stats.worst_index = first + static_cast<std::int64_t>(i);
    stats.worst_actual = actual[i];
    stats.worst_expected = rounded[i];
  }
  return stats;
}

Stats measure_bits(DType dtype, bool any_nan, ElementRange range, const void* actual,
                   const void* expected) {
  thread_local std::vector<double> actual_values, expected_values;
  thread_local std::vector<std::size_t> unequal;
  const auto count = static_cast<std::size_t>(range.count);
  const std::size_t bytes = size_of(dtype);
  expected_values.resize(count);
  to_doubles(dtype, expected, range.count, expected_values.data());
  Stats stats;
  // What agrees is surveyed as it is; nonfinite values are looked at again and agree.
  survey(stats, expected_values, expected_values, unequal);
  for (const std::size_t i : unequal) stats.nonfinite += !std::isfinite(expected_values[i]);
  stats.inside = stats.count;
  if (count == 0 || std::memcmp(actual, expected, count * bytes) == 0) return stats;
  actual_values.resize(count);
  to_doubles(dtype, actual, range.count, actual_values.data());
  for (std::size_t i = 0; i < count; ++i) {
    const auto* a = static_cast<const std::byte*>(actual) + i * bytes;
    const auto* e = static_cast<const std::byte*>(expected) + i * bytes;
    if (std::memcmp(a, e, bytes) == 0) continue;
    const double found = actual_values[i], wanted = expected_values[i];
    if (any_nan && std::isnan(found) && std::isnan(wanted)) continue;
    if (stats.bit_mismatches++ == 0) {
      stats.worst_index = range.first + static_cast<std::int64_t>(i);
      stats.worst_actual = found;
      stats.worst_expected = wanted;
    }
    --stats.inside;
    add_bit_mismatch(stats, dtype, found, wanted);
  }
  return stats;
}

Judgement judge(const Stats& stats, const Tolerance& tolerance) {
  const std::string place =
      fmt::format("element {}: {}, expected {}", stats.worst_index, number_text(stats.worst_actual),
                  number_text(stats.worst_expected));
  if (stats.bit_mismatches > 0) {
    return {Verdict::failed, fmt::format("{} of {} elements differ in their bits; {}",
                                         stats.bit_mismatches, stats.count, place)};
  }
  if (stats.nonfinite_mismatches > 0) {
    return {Verdict::failed, fmt::format("{} NaN/Inf where the reference has none or another; {}",
                                         stats.nonfinite_mismatches, place)};
  }
  if (stats.inside_share() < tolerance.inside_share) {
    return {Verdict::failed,
            fmt::format("{:.4g}% inside tolerance, {:.4g}% needed; {}", 100 * stats.inside_share(),
                        100 * tolerance.inside_share, place)};
  }
  if (stats.beyond_limit > 0) {
    return {Verdict::failed,
            fmt::format("{} elements off by more than {:.3g} and {:.0f} ULP; {}",
                        stats.beyond_limit, tolerance.limit, tolerance.limit_ulp, place)};
  }
  if (stats.count == 0) return {Verdict::mistrusted, "no elements to compare"};
  if (stats.finite_count() == 0) return {Verdict::mistrusted, "nothing but NaN and Inf expected"};
  // One element is always constant, so that says nothing.
  if (stats.count > 1 && stats.expected_min == stats.expected_max) {
    return {Verdict::mistrusted, fmt::format("constant output {:.9g}", stats.expected_max)};
  }
  // relu's zeros are half of a symmetric input; more than that is no proof.
  constexpr double kMostlyZero = 0.9;
  if (stats.count > 1 && double(stats.zeros) > kMostlyZero * double(stats.count)) {
    return {Verdict::mistrusted,
            fmt::format("{:.3g}% zeros expected", 100 * double(stats.zeros) / double(stats.count))};
  }
  return {};
}

}  // namespace opbench
