#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace opbench {

/// Instruction sets that this build can run on this machine, best first: "avx3" (AVX-512), "avx2",
/// "emu128" on x86; "sve", "neon" on Arm. GCC before 12.3 has "scalar" in place of
/// "emu128". OPBENCH_MAX_ISA=avx2 in the environment limits the list to that set and lower ones.
std::vector<std::string> supported_isas();

/// Errors: throws Error if OPBENCH_MAX_ISA is not an instruction set of this machine and build.
void check_isa_limit();

/// The instruction set that vector code runs with now.
std::string current_isa();

/// Makes all vector code use `isa` from now on. Not thread-safe: call it before work starts.
/// Errors: throws Error that lists what this machine supports.
void select_isa(std::string_view isa);

/// Bytes of the first core's data cache of a level (1 to 4); 0 if the cache does not exist or
/// its size is unknown. The source is the kernel's information about the cores that share it.
/// Without that it is the C library, whose value on some AMD processors is the sum of the caches of
/// all dies.
std::size_t cache_bytes(int level);

/// Like cache_bytes, from a folder with index0, index1, ...: level, type, size ("512K") of each
/// cache. The format: Documentation/ABI/testing/sysfs-devices-system-cpu of Linux.
std::size_t cache_bytes_in(const std::string& folder, int level);

/// Bytes of the last-level cache of this machine; 32 MiB if unknown.
std::size_t last_level_cache_bytes();

/// Bytes of the second-level cache, which a core does not share; 1 MiB if unknown.
std::size_t own_cache_bytes();

/// Bytes of the first-level data cache; 32 KiB if unknown.
std::size_t first_cache_bytes();

}  // namespace opbench
