#pragma once

namespace opbench {

/// From now on Ctrl-C (SIGINT), SIGTERM and SIGHUP ask the run to stop after what it is doing; a
/// second one ends the process.
void watch_interrupts();

/// True once one of them came.
bool interrupted();

}  // namespace opbench
