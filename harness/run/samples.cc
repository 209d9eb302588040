#include "harness/run/samples.h"

#include <algorithm>
#include <cmath>
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
