#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/run/counts.h"
#include "harness/run/energy_meter.h"
#include "harness/run/perf_event.h"

namespace opbench {

/// Counts what the threads of this process do during timed calls, for each sample.
class CallCounters {
 public:
  /// Opens the counters of all threads that exist, and of those that they start.
  /// `has_energy`: also the energy, whose numbers are too coarse for the time of one call.
  explicit CallCounters(bool has_energy);

  /// Begins another sample.
  void begin_sample() { samples_.push_back(Counts::unknown()); }
  /// Count what happens between both calls for the last sample that began.
  void start();
  void stop();
  void end_sample(std::int64_t calls) { samples_.back().calls = calls; }

  /// Drops samples that are not kept.
  void drop(std::size_t first, std::size_t count);

  /// Counts of all samples.
  Counts total() const;

  /// Sentences that name what is not counted on this machine, and why; none: all is counted.
  static std::vector<std::string> refusals();

 private:
  struct Opened {
    Counter counter;
    PerfEvent event;
  };

  std::vector<Opened> opened_;
  std::optional<EnergyMeter> energy_;
  std::vector<Counts> samples_;
};

}  // namespace opbench
