#pragma once

namespace opbench {

/// Limits how long threads of OpenMP, which oneDNN uses, spin while they wait for each other, by
/// starting the program again with GOMP_SPINCOUNT set: libgomp reads it before main. Returns if the
/// user has set that or OMP_WAIT_POLICY, if there is no oneDNN, or if it cannot be started again.
/// Child processes inherit the setting. Call before anything else; `argv` as main gets it.
void limit_spinning(const char* const* argv);

}  // namespace opbench
