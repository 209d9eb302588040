#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace opbench {

/// One repetition: `iterations` calls in a row.
struct Sample {
  double start_us = 0;  ///< since the process started measuring
  double duration_us = 0;
  double ns_per_call = 0;
  std::int64_t iterations = 0;
  std::int64_t preemptions = 0;  ///< involuntary context switches during the sample
  /// Host time of a call on a device that is not in its own time.
  double launch_ns_per_call = 0;
  bool is_throttled = false;  ///< the processor or the device reduced its clock meanwhile
};

/// Calls before the first sample that is kept.
struct WarmUp {
  std::int64_t calls = 0;
  double us = 0;
  double first_us = 0;  ///< of the first call
};

/// Robust statistics of a set of times. MAD: median absolute deviation. CV: standard deviation over
/// mean.
struct Spread {
  double median = 0, mad = 0, cv = 0, min = 0;
};
Spread spread_of(std::vector<double> values);
double median_of(std::vector<double> values);
/// Standard error of the median of `count` normal numbers with this median absolute deviation; 0
/// without numbers.
double error_of_median(double mad, std::size_t count);
/// Noise of a median: half the width of its 95 % confidence interval, over the median. The interval
/// lies between two order statistics, so that it holds for any distribution of independent samples.
/// Infinite for fewer than 6 values, which have no such interval, and for a median of 0.
double noise_of_median(std::vector<double> values);
double noise_of(std::span<const Sample> samples);

}  // namespace opbench
