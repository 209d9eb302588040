#include "judge/pair_stats.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace opbench {
namespace {

std::int64_t finite_count(const ValueCounts& values, std::int64_t count) {
  return count - values.nan - values.positive_inf - values.negative_inf;
}

void merge_range(ValueCounts& values, bool is_first, const ValueCounts& later) {
  values.min = is_first ? later.min : std::min(values.min, later.min);
  values.max = is_first ? later.max : std::max(values.max, later.max);
}

// `count` and `later_count` are elements on that side.
void merge_values(ValueCounts& values, std::int64_t count, const ValueCounts& later,
                  std::int64_t later_count) {
  if (finite_count(later, later_count) > 0) {
    merge_range(values, finite_count(values, count) == 0, later);
  }
  values.nan += later.nan;
  values.positive_inf += later.positive_inf;
  values.negative_inf += later.negative_inf;
  values.zero += later.zero;
}

void merge_worst(WorstElement& worst, const WorstElement& later) {
  const bool is_first = worst.index < 0 && later.index >= 0;
  if (is_first || later.error > worst.error) worst = later;
}

void merge_histogram(ErrorHistogram& histogram, const ErrorHistogram& later) {
  histogram.exact += later.exact;
  histogram.counts.add(later.counts);
}

double mean(double sum, std::int64_t count) {
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

double larger_or_nan(double a, double b) { return std::isnan(a) || a >= b ? a : b; }

double smaller_or_nan(double a, double b) { return std::isnan(a) || a <= b ? a : b; }

// Combines mean and sum of squared distances of two parts without cancellation. Source: Chan, Golub
// and LeVeque 1979, "Updating formulae and a pairwise algorithm for computing sample variances".
void merge_moments(double count, double& mean, double& spread, double later_count,
                   double later_mean, double later_spread) {
  const double all = count + later_count, delta = later_mean - mean;
  spread += later_spread + delta * delta * (count * (later_count / all));
  // Avoids Inf - Inf, which would make the mean of two infinite parts NaN.
  mean = std::isfinite(delta) ? mean + delta * (later_count / all) : mean + later_mean;
}

}  // namespace

void BucketCounts::add(std::size_t bucket, std::int64_t count) {
  if (count == 0) return;
  if (counts_.empty()) first_ = bucket;
  if (bucket < first_) {
    counts_.insert(counts_.begin(), first_ - bucket, 0);
    first_ = bucket;
  }
  if (bucket - first_ >= counts_.size()) counts_.resize(bucket - first_ + 1);
  counts_[bucket - first_] += count;
}

void BucketCounts::add(const BucketCounts& others) {
  for (std::size_t i = 0; i < others.counts_.size(); ++i) {
    add(others.first_ + i, others.counts_[i]);
  }
}

std::int64_t BucketCounts::total() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0});
}

std::int64_t PairStats::finite_pairs() const { return histogram.exact + histogram.counts.total(); }

double PairStats::mean_abs() const { return mean(sum_abs, finite_pairs()); }

double PairStats::mean_rel() const { return mean(sum_rel, finite_pairs()); }

double PairStats::rmse() const {
  const std::int64_t pairs = finite_pairs();
  return pairs == 0 ? 0 : static_cast<double>(std::sqrt(sum_sq / static_cast<long double>(pairs)));
}

double PairStats::mean_ulp() const { return mean(sum_ulp, finite_pairs()); }

double PairStats::cosine() const {
  if (sum_actual_sq == 0 && sum_expected_sq == 0) return 1;
  if (sum_actual_sq == 0 || sum_expected_sq == 0) return 0;
  const long double cosine = sum_product / std::sqrt(sum_actual_sq) / std::sqrt(sum_expected_sq);
  return std::clamp(static_cast<double>(cosine), -1.0, 1.0);
}

double PairStats::inside_share() const {
  return count == 0 ? 1 : static_cast<double>(inside) / static_cast<double>(count);
}

double PairStats::tolerance_of_all() const {
  const bool is_zero_expected = scale == 0 && worst_abs.error > 0;
  return nonfinite_mismatches() > 0 || is_zero_expected ? HUGE_VAL : min_tolerance;
}

void PairStats::merge(const PairStats& later) {
  merge_values(actual, count, later.actual, later.count);
  merge_values(expected, count, later.expected, later.count);
  if (first_mismatch < 0) {
    first_mismatch = later.first_mismatch;
    mismatch_actual = later.mismatch_actual;
    mismatch_expected = later.mismatch_expected;
  }
  merge_worst(worst_abs, later.worst_abs);
  merge_worst(worst_rel, later.worst_rel);
  merge_worst(worst_outside, later.worst_outside);
  merge_worst(worst_beyond, later.worst_beyond);
  merge_histogram(histogram, later.histogram);
  count += later.count;
  nan_mismatches += later.nan_mismatches;
  inf_mismatches += later.inf_mismatches;
  unequal += later.unequal;
  inside += later.inside;
  beyond_limit += later.beyond_limit;
  sum_abs += later.sum_abs;
  sum_rel += later.sum_rel;
  sum_sq += later.sum_sq;
  sum_expected_sq += later.sum_expected_sq;
  sum_actual_sq += later.sum_actual_sq;
  sum_product += later.sum_product;
  max_ulp = std::max(max_ulp, later.max_ulp);
  sum_ulp += later.sum_ulp;
  min_tolerance = std::max(min_tolerance, later.min_tolerance);
  scale = later.scale;
}

void MsaccucmpSums::merge(const MsaccucmpSums& later) {
  if (later.count == 0) return;
  if (count == 0) {
    *this = later;
    return;
  }
  const auto here = static_cast<double>(count), there = static_cast<double>(later.count);
  merge_moments(here, x_mean, x_spread, there, later.x_mean, later.x_spread);
  merge_moments(here, y_mean, y_spread, there, later.y_mean, later.y_spread);
  count += later.count;
  xx += later.xx;
  yy += later.yy;
  xy += later.xy;
  diff_sq += later.diff_sq;
  diff_abs += later.diff_abs;
  rel += later.rel;
  max_diff = larger_or_nan(max_diff, later.max_diff);
  max_rel = larger_or_nan(max_rel, later.max_rel);
  x_min = smaller_or_nan(x_min, later.x_min);
  x_max = larger_or_nan(x_max, later.x_max);
  y_min = smaller_or_nan(y_min, later.y_min);
  y_max = larger_or_nan(y_max, later.y_max);
  kl_x += later.kl_x;
  kl_y += later.kl_y;
  kl_log += later.kl_log;
}

KlScale kl_scale(double min, double max) {
  if (min == max) return {};
  return {min, 1 / (max - min)};
}

// With p = N(x)/kl_x and q = N(y)/kl_y the sum of p*log(p/q) is sum of N(x)/kl_x * (log(N(x)/N(y))
// + log(kl_y/kl_x)).
double kl_divergence(const MsaccucmpSums& sums) {
  return sums.kl_log / sums.kl_x + std::log(sums.kl_y / sums.kl_x);
}

}  // namespace opbench
