#include "harness/check/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>

#include "harness/run/samples.h"

namespace opbench::check {
namespace {

constexpr std::size_t kResamples = 4000;

/// splitmix64 (Steele, Lea, Flood 2014), because the standard library's distributions differ by
/// vendor.
class Random {
 public:
  std::size_t below(std::size_t count) {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return static_cast<std::size_t>(((z ^ (z >> 31)) >> 32) * count >> 32);
  }

 private:
  std::uint64_t state_ = 0x6f7062656e6368;  // "opbench"
};

std::vector<std::vector<double>> split(std::span<const double> values,
                                       std::span<const int> groups) {
  std::map<int, std::vector<double>> parts;
  for (std::size_t i = 0; i < values.size(); ++i) {
    parts[groups.empty() ? 0 : groups[i]].push_back(values[i]);
  }
  std::vector<std::vector<double>> result;
  for (auto& [group, part] : parts) result.push_back(std::move(part));
  return result;
}

// The regularised incomplete beta function by its continued fraction, in Lentz's form. Source: DLMF
// 8.17.22; Lentz 1976, Applied Optics 15, 668-671.
double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incomplete_beta(b, a, 1 - x);
  constexpr int kMostTerms = 300;
  constexpr double kTiny = 1e-300, kClose = 1e-14;
  const auto not_zero = [](double value) { return std::fabs(value) < kTiny ? kTiny : value; };
  double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), fraction = d;
  for (int m = 1; m < kMostTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    for (const double term : {even, odd}) {
      d = 1 / not_zero(1 + term * d);
      c = not_zero(1 + term / c);
      fraction *= d * c;
    }
    if (std::fabs(d * c - 1) < kClose) break;
  }
  const double log_factor = a * std::log(x) + b * std::log1p(-x) - std::log(a) +
                            std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b);
  return std::exp(log_factor) * fraction;
}

struct Moments {
  double mean = 0, mean_variance = 0;  // of the mean
};

Moments moments_of(std::span<const double> values) {
  const auto count = static_cast<double>(values.size());
  Moments moments;
  for (const double value : values) moments.mean += value / count;
  for (const double value : values) {
    const double off = value - moments.mean;
    moments.mean_variance += off * off / ((count - 1) * count);
  }
  return moments;
}

}  // namespace

BootstrapMedians::BootstrapMedians(std::span<const double> values, std::span<const int> groups) {
  const std::vector<std::vector<double>> parts = split(values, groups);
  Random random;
  std::vector<double> resample;
  for (std::size_t i = 0; i < kResamples; ++i) {
    resample.clear();
    for (std::size_t j = 0; j < parts.size(); ++j) {
      // With a single group only its values are drawn.
      const auto& part = parts.size() == 1 ? parts[0] : parts[random.below(parts.size())];
      for (std::size_t k = 0; k < part.size(); ++k) {
        resample.push_back(part[random.below(part.size())]);
      }
    }
    medians_.push_back(median_of(resample));
  }
  std::sort(medians_.begin(), medians_.end());
}

Interval BootstrapMedians::interval(double confidence) const {
  const double outside = (1 - confidence) / 2 * static_cast<double>(kResamples);
  const auto left_out = std::min(static_cast<std::size_t>(outside + 0.5), (kResamples - 1) / 2);
  return {medians_[left_out], medians_[kResamples - 1 - left_out]};
}

std::vector<double> group_medians(std::span<const double> values, std::span<const int> groups) {
  std::vector<double> medians;
  for (std::vector<double>& part : split(values, groups)) {
    medians.push_back(median_of(std::move(part)));
  }
  return medians;
}

double sign_test(std::span<const double> values) {
  const auto positive = std::count_if(values.begin(), values.end(), [](double v) { return v > 0; });
  const auto negative = std::count_if(values.begin(), values.end(), [](double v) { return v < 0; });
  const auto count = static_cast<double>(positive + negative);
  double tail = 0;  // P(this number of the rarer sign, or fewer)
  for (std::ptrdiff_t k = 0; k <= std::min(positive, negative); ++k) {
    const auto of = static_cast<double>(k);
    tail += std::exp(std::lgamma(count + 1) - std::lgamma(of + 1) - std::lgamma(count - of + 1) -
                     count * std::log(2.0));
  }
  return std::min(1.0, 2 * tail);
}

double student_p(double t, double freedom) {
  if (std::isnan(t)) return 1;
  const double x = freedom / (freedom + t * t);
  return incomplete_beta(freedom / 2, 0.5, x);
}

double welch_test(std::span<const double> first, std::span<const double> second) {
  if (first.size() < 2 || second.size() < 2) return 1;
  const Moments a = moments_of(first), b = moments_of(second);
  const double error = a.mean_variance + b.mean_variance;
  if (error <= 0) return a.mean == b.mean ? 1 : 0;
  const double freedom =
      error * error /
      (a.mean_variance * a.mean_variance / (static_cast<double>(first.size()) - 1) +
       b.mean_variance * b.mean_variance / (static_cast<double>(second.size()) - 1));
  return student_p((a.mean - b.mean) / std::sqrt(error), freedom);
}

double rank_sum_test(std::span<const double> first, std::span<const double> second) {
  std::vector<std::pair<double, bool>> all;  // value, and true if it is from the first sample
  for (const double value : first) all.emplace_back(value, true);
  for (const double value : second) all.emplace_back(value, false);
  std::sort(all.begin(), all.end());
  double rank_sum = 0, ties = 0;
  for (std::size_t i = 0, end = 0; i < all.size(); i = end) {
    for (end = i; end < all.size() && all[end].first == all[i].first; ++end) continue;
    const auto equal = static_cast<double>(end - i);
    const double rank = static_cast<double>(i) + (equal + 1) / 2;
    for (std::size_t j = i; j < end; ++j) rank_sum += all[j].second ? rank : 0;
    ties += equal * equal * equal - equal;
  }
  const auto n = static_cast<double>(first.size()), m = static_cast<double>(second.size());
  if (n == 0 || m == 0) return 1;
  const double total = n + m, mean = n * m / 2;
  const double variance = n * m / 12 * (total + 1 - ties / (total * (total - 1)));
  const double distance = std::fabs(rank_sum - n * (n + 1) / 2 - mean) - 0.5;
  if (variance <= 0 || distance <= 0) return 1;
  return std::erfc(distance / std::sqrt(2 * variance));
}

std::vector<double> benjamini_hochberg(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] > p[b]; });
  std::vector<double> adjusted(p.size());
  double smallest = 1;
  const auto count = static_cast<double>(p.size());
  for (std::size_t i = 0; i < order.size(); ++i) {  // from the largest, whose rank is `count`
    smallest = std::min(smallest, p[order[i]] * count / (count - static_cast<double>(i)));
    adjusted[order[i]] = smallest;
  }
  return adjusted;
}

double median_standard_error(std::span<const double> values, int rounds) {
  if (values.empty() || rounds < 1) return 0;
  const double mad = spread_of({values.begin(), values.end()}).mad;
  return error_of_median(mad, static_cast<std::size_t>(rounds));
}

}  // namespace opbench::check
