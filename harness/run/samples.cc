#include "harness/run/samples.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace opbench {

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const std::size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle),
                   values.end());
  const double upper = values[middle];
  if (values.size() % 2 == 1) return upper;
  return (upper +
          *std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle))) /
         2;
}

double error_of_median(double mad, std::size_t count) {
  // sigma = 1.4826 MAD, and the standard error of the median is sqrt(pi/2) sigma/sqrt(n), both for
  // normal numbers.
  constexpr double kSigmaPerMad = 1.4826, kMedianOverMean = 1.2533;
  return count == 0 ? 0 : kMedianOverMean * kSigmaPerMad * mad / std::sqrt(double(count));
}

namespace {

// The largest rank k whose order statistics k and n + 1 - k, counted from 1, enclose the median
// with a probability of 95 %; 0 without such a rank. The number of values below the median is
// binomial with p = 1/2.
std::size_t rank_below_median(std::size_t count) {
  constexpr double kOutside = 0.05;
  const auto n = static_cast<double>(count);
  double below = 0;  // probability of at most k - 1 values below the median
  std::size_t rank = 0;
  for (; rank < count; ++rank) {
    const auto k = static_cast<double>(rank);
    below += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) -
                      n * std::log(2.0));
    if (2 * below > kOutside) break;
  }
  return rank;
}

}  // namespace

double noise_of_median(std::vector<double> values) {
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  const std::size_t rank = rank_below_median(values.size());
  if (rank == 0) return kUnknown;
  std::sort(values.begin(), values.end());
  const double width = values[values.size() - rank] - values[rank - 1];
  const double median = median_of(std::move(values));
  return median > 0 ? width / 2 / median : kUnknown;
}

double noise_of(std::span<const Sample> samples) {
  std::vector<double> values;
  for (const Sample& sample : samples) values.push_back(sample.ns_per_call);
  return noise_of_median(std::move(values));
}

Spread spread_of(std::vector<double> values) {
  Spread spread;
  if (values.empty()) return spread;
  spread.median = median_of(values);
  spread.min = *std::min_element(values.begin(), values.end());
  const double count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  spread.cv = mean > 0 && count > 1 ? std::sqrt(squares / (count - 1)) / mean : 0;
  for (double& value : values) value = std::fabs(value - spread.median);
  spread.mad = median_of(std::move(values));
  return spread;
}

}  // namespace opbench
