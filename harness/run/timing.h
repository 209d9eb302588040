#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "harness/run/samples.h"

namespace opbench {

class CallCounters;
class CallWatch;

struct TimingOptions {
  double seconds = 0.1;  ///< over all repetitions
  int repetitions = 9;
  /// Called before every call, outside the timed window, to empty the caches; none: caches stay
  /// hot.
  std::function<void()> evict;
  /// Detects calls that skip work; may be null.
  CallWatch* watch = nullptr;
  /// Called before every sample and every run of the warm-up; may be null.
  std::function<void()> before_sample = nullptr;
  /// True if the clock was reduced since its last call. Samples for which it is true are taken
  /// again, `repetitions` at most. Null: unknown.
  std::function<bool()> was_throttled = nullptr;
  /// Number of samples to take after these; 0 ends. Null: no more than `repetitions`.
  std::function<int(std::span<const Sample> samples)> more = nullptr;
  /// Receives the calls before the first sample; may be null.
  WarmUp* warm_up = nullptr;
  /// Receives the number of samples that were taken again; may be null.
  std::int64_t* retaken = nullptr;
  /// Counts during the timed calls of the samples that are returned; may be null.
  CallCounters* counters = nullptr;
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
