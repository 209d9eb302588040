#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace opbench {

/// The activity of a thread of the host. It compiles operators, waits for a device, or loads data;
/// all other operators of the framework are work.
enum class HostState : std::uint8_t { works, compiles, waits, loads };

/// The time of one activity of a thread. Spans of a thread can be nested.
struct HostSpan {
  std::int64_t start_ns = 0, end_ns = 0;
  std::uint32_t thread = 0;
  HostState state = HostState::works;
};

/// Begins and ends in nanoseconds. Results are in order and disjoint; arguments need not be.
using Intervals = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// The time of traces by what the host and a device do: four quadrants and parts of two of them.
/// In nanoseconds, over all steps on all devices. A device is busy if it computes, communicates or
/// copies.
struct HostTime {
  std::int64_t both_ns = 0, host_alone_ns = 0, device_alone_ns = 0, neither_ns = 0;
  std::int64_t compiling_ns = 0;   ///< the part of `host_alone_ns` in which it compiles
  std::int64_t loading_ns = 0;     ///< parts of `neither_ns` in which the host loads data
  std::int64_t waiting_ns = 0;     ///< and in which it waits for a device
  std::int64_t compile_calls = 0;  ///< nested calls count once

  std::int64_t whole_ns() const { return both_ns + host_alone_ns + device_alone_ns + neither_ns; }
  double share(std::int64_t nanoseconds) const;
};

/// Adds the time of one trace to `time`. `busy` has the times of each device. `steps`: without
/// steps, the time from the first to the last busy time of a device counts. Returns the times in
/// which each device is idle.
std::vector<Intervals> add_host_time(std::span<const HostSpan> host,
                                     const std::vector<Intervals>& busy, const Intervals& steps,
                                     HostTime& time);

/// Sums of idle time up to any moment, over devices.
class IdleClock {
 public:
  explicit IdleClock(const std::vector<Intervals>& idle);

  std::int64_t between_ns(std::int64_t start_ns, std::int64_t end_ns) const {
    return before_ns(end_ns) - before_ns(start_ns);
  }

 private:
  std::int64_t before_ns(std::int64_t time_ns) const;

  std::vector<Intervals> idle_;
  std::vector<std::vector<std::int64_t>> sums_;  ///< of idle time before each interval
};

}  // namespace opbench
