#pragma once

#include <cstddef>

namespace opbench {

/// Bytes of the last-level cache of this machine; 32 MiB where it cannot be told.
std::size_t last_level_cache_bytes();

/// Bytes of the second-level cache, which a core has to itself; 1 MiB where it cannot be told.
std::size_t own_cache_bytes();

/// Bytes of the first-level cache for data; 32 KiB where it cannot be told.
std::size_t first_cache_bytes();

}  // namespace opbench
