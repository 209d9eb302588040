#pragma once

#include <sys/types.h>

#include <functional>

namespace opbench {

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
