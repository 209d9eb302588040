#pragma once

#include <string_view>

namespace opbench {

/// From now on a crash of this process (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) says on standard
/// error what ran, and then ends the process as it would have. Signals that have a handler already,
/// such as a sanitizer's, keep it.
void tell_crashes();

/// What runs: "variant 'mine' of softplus[8x64,fp32,ND]". Empty: nothing of a user's.
void set_what_runs(std::string_view what);

}  // namespace opbench
