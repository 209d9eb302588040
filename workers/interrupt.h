#pragma once

namespace opbench {

/// After this call Ctrl-C (SIGINT), SIGTERM, SIGHUP and SIGQUIT stop the run after the current
/// work; a second signal ends the process. Must be called before the first file is reserved,
/// because an earlier signal would leave that file behind.
void watch_interrupts();

/// Simulates one of these signals.
void interrupt();

/// True once one of them was received.
bool interrupted();

}  // namespace opbench
