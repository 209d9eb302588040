#include "compare/stats.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "compare/ulp.h"
#include "tensor/elements.h"

namespace opbench {
namespace {

// A mismatch is worse than any distance.
constexpr double kMismatchUlp = HUGE_VAL;

struct WorstElement {
  double ulp = -1;
  std::int64_t index = -1;
};

bool agree_nonfinite(double actual, double expected) {
  return (std::isnan(actual) && std::isnan(expected)) || actual == expected;
}

// One element; returns its distance in ULP.
double add_element(Stats& stats, DType dtype, const Tolerance& tolerance, double actual,
                   double expected) {
  if (!std::isfinite(expected) || !std::isfinite(actual)) {
    stats.nonfinite += !std::isfinite(expected);
    if (agree_nonfinite(actual, expected)) {
      ++stats.inside;
      return 0;
    }
    ++stats.nonfinite_mismatches;
    return kMismatchUlp;
  }
  const double error = std::fabs(actual - expected), size = std::fabs(expected);
  stats.zeros += expected == 0;
  stats.expected_min = std::min(stats.expected_min, expected);
  stats.expected_max = std::max(stats.expected_max, expected);
  if (error == 0) {
    ++stats.inside;
    return 0;
  }
  const double ulp = ulp_distance(dtype, actual, expected);
  stats.inside += error <= tolerance.atol + tolerance.rtol * size;
  stats.beyond_limit += error > tolerance.limit && ulp > tolerance.limit_ulp;
  stats.max_abs = std::max(stats.max_abs, error);
  stats.max_ulp = std::max(stats.max_ulp, ulp);
  stats.sum_ulp += ulp;
  stats.min_tolerance = std::max(stats.min_tolerance, error / (1 + size));
  return ulp;
}

double rank_of_worst(const Stats& stats) {
  if (stats.worst_index < 0) return -1;
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
  stats.count = static_cast<std::int64_t>(actual.size());
  stats.expected_min = HUGE_VAL;
  stats.expected_max = -HUGE_VAL;
  WorstElement worst;
  // The reference is rounded to the output's dtype first: half a unit of the format is not the kernel's error.
  thread_local std::vector<std::byte> rounded_bits;
  thread_local std::vector<double> rounded;
  rounded_bits.resize(expected.size() * size_of(dtype));
  rounded.resize(expected.size());
  from_doubles(dtype, expected.data(), stats.count, rounded_bits.data());
  to_doubles(dtype, rounded_bits.data(), stats.count, rounded.data());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double ulp = add_element(stats, dtype, tolerance, actual[i], rounded[i]);
    if (ulp > worst.ulp) worst = {ulp, static_cast<std::int64_t>(i)};
  }
  if (worst.index >= 0) {
    const auto at = static_cast<std::size_t>(worst.index);
    stats.worst_index = first + worst.index;
    stats.worst_actual = actual[at];
    stats.worst_expected = rounded[at];
  }
  return stats;
}

Judgement judge(const Stats& stats, const Tolerance& tolerance) {
  const std::string place =
      fmt::format("element {}: {:.9g}, expected {:.9g}", stats.worst_index, stats.worst_actual,
                  stats.worst_expected);
  if (stats.nonfinite_mismatches > 0) {
    return {Verdict::failed,
            fmt::format("{} NaN/Inf where the reference has none or another; {}",
                        stats.nonfinite_mismatches, place)};
  }
  if (stats.inside_share() < tolerance.inside_share) {
    return {Verdict::failed, fmt::format("{:.4g}% inside tolerance, {:.4g}% needed; {}",
                                         100 * stats.inside_share(), 100 * tolerance.inside_share,
                                         place)};
  }
  if (stats.beyond_limit > 0) {
    return {Verdict::failed, fmt::format("{} elements off by more than {:.3g} and {:.0f} ULP; {}",
                                         stats.beyond_limit, tolerance.limit, tolerance.limit_ulp,
                                         place)};
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
