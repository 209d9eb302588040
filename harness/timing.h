#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace opbench {

/// One repetition: `iterations` calls in a row.
struct Sample {
  double start_us = 0;  ///< since the process started measuring
  double duration_us = 0;
  double ns_per_call = 0;
  std::int64_t iterations = 0;
};

struct TimingOptions {
  double seconds = 0.1;  ///< over all repetitions
  int repetitions = 9;
  /// Called before every call, outside the timed window, to empty the caches; none: hot.
  std::function<void()> evict;
};

/// Times `call` with Google Benchmark (real time; iterations adapted to the time) and keeps every
/// repetition, in order. Empty if interrupted before all repetitions were done.
std::vector<Sample> time_calls(const std::string& name, const TimingOptions& options,
                               const std::function<void()>& call);

/// Robust figures of a set of times. MAD: median absolute deviation; CV: standard deviation over
/// mean.
struct Spread {
  double median = 0, mad = 0, cv = 0, min = 0;
};
Spread spread_of(std::vector<double> values);
double median_of(std::vector<double> values);

/// Writes every cache line of [data, data + bytes) back to memory and drops it.
void evict_from_caches(const void* data, std::size_t bytes);

}  // namespace opbench
