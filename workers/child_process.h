#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>

namespace opbench {

/// What a child process ends with when it made no progress for so long that it never would.
inline constexpr int kHungExitCode = 75;

/// Makes this process, a new fork of `parent`, fit to read a damaged file: it keeps no descriptor
/// but these, prints nothing, writes no core, leaves Ctrl-C to its parent and ends when its
/// parent does, asks for a bounded amount of memory, and ends with kHungExitCode after 30 seconds
/// of computing without `note_progress`.
void confine_child(pid_t parent, std::initializer_list<int> descriptors);

/// How a child process ended.
struct ChildEnd {
  bool is_known = false;  ///< false if it still runs, or nobody knows
  bool was_hung = false;
  int signal = 0;  ///< that ended it
};

/// Waits up to a second for its end; `child` becomes -1 when it is known.
ChildEnd end_of(pid_t& child);

/// Why a child that uses the HDF5 library did not answer: "the HDF5 library crashed while {doing};
/// the file is damaged".
std::string reason_of(const ChildEnd& end, const std::string& doing);

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

/// Starts a process by `fork`, which returns its pid or one below 0, and remembers it as a child
/// of this program. From the first call on, processes that lose their parent below this program
/// become its children, so that `end_strays` finds them.
pid_t start_child(const std::function<pid_t()>& fork);

/// Forgets a child that has ended.
void forget_child(pid_t pid);

/// Ends what ended children have left behind: processes that they started in groups or sessions
/// of their own. What this program started itself stays, and what it had when it began, too.
void end_strays();

}  // namespace opbench
