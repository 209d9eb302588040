#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace opbench {

/// An event that the Linux kernel counts (perf_event_open(2)), by its numbers in perf_event_attr.
struct PerfKind {
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  bool is_of_kernel = false;  ///< happens in the kernel; else only the program's own code counts
};

/// A counter of one event, of several threads or cores at once. It counts from its opening on.
class PerfEvent {
 public:
  /// Counts in all threads of this process, and in threads that they start later.
  static PerfEvent of_threads(const PerfKind& kind);
  /// Counts everything that runs on these cores.
  static PerfEvent of_cores(const PerfKind& kind, const std::vector<int>& cores);

  PerfEvent(PerfEvent&& other) noexcept;
  PerfEvent& operator=(PerfEvent&&) = delete;
  ~PerfEvent();

  bool is_open() const { return error_ == 0; }
  /// errno of the kernel's refusal; 0: it counts.
  int error() const { return error_; }

  /// Count since the last call.
  double take();
  /// Share of the time of that count in which the kernel counted. The count is scaled to the whole.
  double counted_share() const { return counted_share_; }

 private:
  /// The kernel's answer: the count, and the nanoseconds in which it was enabled and running.
  struct Reading {
    std::uint64_t count = 0, enabled_ns = 0, running_ns = 0;
  };
  struct Source {
    int file = -1;
    Reading last;
  };

  PerfEvent() = default;
  void open(const PerfKind& kind, int thread, int core);

  std::vector<Source> sources_;
  int error_ = 0;
  double counted_share_ = 1;
};

/// The number in /proc/sys/kernel/perf_event_paranoid.
int perf_paranoid_level();

/// Why the kernel refuses an event, in words, with what helps.
/// `paranoid`: perf_paranoid_level(). `enough`: the value that allows the event.
std::string perf_refusal(int error, int paranoid, int enough);

}  // namespace opbench
