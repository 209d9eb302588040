#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <vector>

namespace opbench {

/// Exit code of a child process that made no progress for too long.
inline constexpr int kHungExitCode = 75;

/// Prepares this process, a new fork of `parent`, to read a damaged file. It keeps only
/// `descriptors`, prints nothing, writes no core file, ignores Ctrl-C, ends when its parent ends,
/// and may allocate a bounded amount of memory. It ends with kHungExitCode after 30 seconds of
/// computing without `note_progress`.
void confine_child(pid_t parent, std::vector<int> descriptors);

/// Detects that a forked child can never continue: another thread of its parent held a lock of
/// malloc or of the HDF5 library during the fork, and the child waits for its copy of the lock,
/// which is never released.
class LockWatch {
 public:
  /// Must be called repeatedly while the child, which has one thread, computes an answer. True once
  /// it has waited for a lock for a second. False if Linux does not state what it waits for.
  bool is_stuck(pid_t child);

 private:
  std::optional<std::chrono::steady_clock::time_point> since_;
};

/// Reports progress of the work. Fast, and without effect outside of such a child.
void note_progress();

}  // namespace opbench
