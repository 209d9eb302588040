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
  /// Called before every call, outside the timed window, to empty the caches; none: hot.
  std::function<void()> evict;
  /// Sees to it that every call is one; null: nobody does.
  CallWatch* watch = nullptr;
};

/// Times `call` with Google Benchmark (real time; iterations adapted to the time) and keeps every
/// repetition, in order. Empty if interrupted before all repetitions were done, or if a call was
/// none
/// (`CallWatch::missed`).
std::vector<Sample> time_calls(const std::string& name, const TimingOptions& options,
                               const std::function<void()>& call);

/// Now, on the clock that `Sample::start_us` of `time_calls` is of. It begins when it is first
/// asked for, here or by the first sample.
double measuring_clock_us();

/// Writes every cache line of [data, data + bytes) back to memory and drops it.
void evict_from_caches(const void* data, std::size_t bytes);

}  // namespace opbench
