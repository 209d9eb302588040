#pragma once

#include <cstddef>
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

/// Bytes of the cache for data of a level (1 to 4) of the first core; 0 where there is none or it
/// cannot be told. What the kernel says about the cores that share it; only where it says nothing
/// what the C library computes, which on some AMD processors is the caches of all dies together.
std::size_t cache_bytes(int level);

/// The same from a folder with index0, index1, ...: level, type, size ("512K") of each cache. The
/// format: Documentation/ABI/testing/sysfs-devices-system-cpu of Linux.
std::size_t cache_bytes_in(const std::string& folder, int level);

/// Bytes of the last-level cache of this machine; 32 MiB where it cannot be told.
std::size_t last_level_cache_bytes();

/// Bytes of the second-level cache, which a core has to itself; 1 MiB where it cannot be told.
std::size_t own_cache_bytes();

/// Bytes of the first-level cache for data; 32 KiB where it cannot be told.
std::size_t first_cache_bytes();

}  // namespace opbench
