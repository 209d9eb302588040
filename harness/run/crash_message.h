#pragma once

#include <string_view>

namespace opbench {

/// Installs handlers for crashes of this process (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT). They
/// print what is running to standard error, and then let the process end by the signal. Existing
/// handlers, such as a sanitizer's, are kept.
void report_crashes();

/// Sets the description of the running code: "variant 'mine' of softplus[8x64,fp32,ND]". Empty: no
/// variant is running.
void set_what_runs(std::string_view what);

}  // namespace opbench
