#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "harness/run/samples.h"

namespace opbench {

class CallWatch;

struct TimingOptions {
  double seconds = 0.1;  ///< over all repetitions
  int repetitions = 9;
  /// Called before every call, outside the timed window, to empty the caches; none: caches stay
  /// hot.
  std::function<void()> evict;
  /// Detects calls that skip work; may be null.
  CallWatch* watch = nullptr;
};

/// Times `call` with Google Benchmark (real time; iterations adapted to the time) and keeps every
/// repetition, in order. Empty if interrupted before all repetitions were done, or if a call
/// skipped work (`CallWatch::missed`).
std::vector<Sample> time_calls(const std::string& name, const TimingOptions& options,
                               const std::function<void()>& call);

/// Present time on the clock of `Sample::start_us`. The clock starts at its first use, here or by
/// the first sample.
double measuring_clock_us();

/// Writes every cache line of [data, data + bytes) back to memory and drops it.
void evict_from_caches(const void* data, std::size_t bytes);

}  // namespace opbench
