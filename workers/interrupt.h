#pragma once

namespace opbench {

/// From now on Ctrl-C (SIGINT), SIGTERM, SIGHUP and SIGQUIT ask the run to stop after what it is
/// doing; a second one ends the process. To be called before the first file is reserved, or one
/// that comes earlier leaves it behind.
void watch_interrupts();

/// As if one of them had come.
void interrupt();

/// True once one of them came.
bool interrupted();

}  // namespace opbench
