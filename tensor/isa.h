#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace opbench {

/// Instruction sets that this build can run on this machine, best first: "avx3" (AVX-512), "avx2",
/// "sse4", "emu128" on x86; "sve", "neon" on Arm. GCC before 12.3 has "scalar" in place of
/// "emu128". With OPBENCH_MAX_ISA=avx2 in the environment those up to that one alone, as on a
/// machine that has no better.
std::vector<std::string> supported_isas();

/// Errors: throws Error if OPBENCH_MAX_ISA names none of this machine and build.
void check_isa_limit();

/// The instruction set that vector code runs with now.
std::string current_isa();

/// Runs all vector code with `isa` from now on. Not thread-safe: call it before work starts.
/// Errors: throws Error that lists what this machine supports.
void select_isa(std::string_view isa);

}  // namespace opbench
