#pragma once

#include <cstddef>
#include <string>

namespace opbench {

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
