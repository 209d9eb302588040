#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tensor/buffer.h"
#include "tests/support.h"

namespace opbench {

inline constexpr std::uint8_t kUntouched = 0x5A;

/// Guarded memory that finds bytes that were not written.
struct Bytes {
  Buffer buffer;

  explicit Bytes(std::int64_t count) : buffer(static_cast<std::size_t>(count)) {
    std::memset(buffer.data(), kUntouched, buffer.size());
  }
  std::uint8_t* data() const { return static_cast<std::uint8_t*>(buffer.data()); }
  bool operator==(const Bytes& other) const {
    return std::memcmp(data(), other.data(), buffer.size()) == 0;
  }
};

inline Bytes noisy(std::int64_t count) {
  Bytes bytes(count);
  const std::vector<std::uint8_t> values = noise(static_cast<std::size_t>(count));
  std::copy(values.begin(), values.end(), bytes.data());
  return bytes;
}

}  // namespace opbench
