#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <vector>

namespace opbench {

/// What a child process ends with when it made no progress for so long that it never would.
inline constexpr int kHungExitCode = 75;

/// Makes this process, a new fork of `parent`, fit to read a damaged file: it keeps no descriptor
/// but these, prints nothing, writes no core, leaves Ctrl-C to its parent and ends when its
/// parent does, asks for a bounded amount of memory, and ends with kHungExitCode after 30 seconds
/// of computing without `note_progress`.
void confine_child(pid_t parent, std::vector<int> descriptors);

/// Tells when a forked child will never go on: another thread of its parent held a lock, of the
/// memory or of the HDF5 library, at the moment of the fork, and the child waits for a copy of it
/// that nobody gives back.
class LockWatch {
 public:
  /// To be asked again and again while the child, which has one thread, owes an answer: true once
  /// it has waited for a lock for a second. False where Linux does not say what it waits for.
  bool is_stuck(pid_t child);

 private:
  std::optional<std::chrono::steady_clock::time_point> since_;
};

/// Says that the work goes on. Cheap, and of no effect outside of such a child.
void note_progress();

}  // namespace opbench
