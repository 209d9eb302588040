#pragma once

#include <cstddef>
#include <cstdint>

namespace opbench {

/// A 64-bit fingerprint of memory, at memory speed, the same for every thread count. Not
/// cryptographic: it tells that something wrote into a buffer.
std::uint64_t checksum(const void* data, std::size_t bytes);

}  // namespace opbench
