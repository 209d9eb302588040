#pragma once

#include <sys/types.h>

namespace opbench {

/// What a child process ends with when it made no progress for so long that it never would.
inline constexpr int kHungExitCode = 75;

/// Makes this process, a new fork of `parent`, fit to read a damaged file: it keeps no descriptor
/// but these two, prints nothing, writes no core, leaves Ctrl-C to its parent and ends when its
/// parent does, asks for a bounded amount of memory, and ends with kHungExitCode after 30 seconds
/// of computing without `note_progress`.
void confine_child(pid_t parent, int descriptor, int other_descriptor);

/// Says that the work goes on. Cheap, and of no effect outside of such a child.
void note_progress();

}  // namespace opbench
