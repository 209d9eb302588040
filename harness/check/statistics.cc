#include "harness/check/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>

#include "harness/record/samples.h"

namespace opbench::check {
namespace {

constexpr std::size_t kResamples = 4000;

/// splitmix64 (Steele, Lea, Flood 2014); the standard library's distributions differ by vendor.
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

}  // namespace

BootstrapMedians::BootstrapMedians(std::span<const double> values, std::span<const int> groups) {
  const std::vector<std::vector<double>> parts = split(values, groups);
  Random random;
  std::vector<double> resample;
  for (std::size_t i = 0; i < kResamples; ++i) {
    resample.clear();
    for (std::size_t j = 0; j < parts.size(); ++j) {
      // A single group leaves nothing to draw.
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
  double tail = 0;  // P(as few of the rarer sign, or fewer)
  for (std::ptrdiff_t k = 0; k <= std::min(positive, negative); ++k) {
    const auto of = static_cast<double>(k);
    tail += std::exp(std::lgamma(count + 1) - std::lgamma(of + 1) - std::lgamma(count - of + 1) -
                     count * std::log(2.0));
  }
  return std::min(1.0, 2 * tail);
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
  // Of a normal distribution: sigma = 1.4826 MAD, and the median's error is sqrt(pi/2)
  // sigma/sqrt(n).
  constexpr double kSigmaPerMad = 1.4826, kMedianOverMean = 1.2533;
  const Spread spread = spread_of({values.begin(), values.end()});
  return kMedianOverMean * kSigmaPerMad * spread.mad / std::sqrt(static_cast<double>(rounds));
}

}  // namespace opbench::check
