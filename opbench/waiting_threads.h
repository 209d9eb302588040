#pragma once

namespace opbench {

/// Limits how long OpenMP threads, which oneDNN uses, spin while they wait for each other. It
/// starts the program again with GOMP_SPINCOUNT set: libgomp reads the variable before main.
/// Returns if the user has set it or OMP_WAIT_POLICY, if the build has no oneDNN, or if the program
/// cannot be started again. Child processes inherit the setting. Call it before anything else;
/// `argv` are the arguments of main.
void limit_spinning(const char* const* argv);

}  // namespace opbench
