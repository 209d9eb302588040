#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tensor/processor.h"

namespace opbench {

/// Lengths around the vector widths in use.
inline constexpr std::size_t kLengths[] = {0, 1, 2, 15, 16, 17, 31, 33, 257, 4095, 4096, 4097};

/// Calls `test` with every instruction set selected in turn, then restores the earlier selection.
template <class Test>
void on_every_isa(Test test) {
  const std::string before = current_isa();
  for (const std::string& isa : supported_isas()) {
    SCOPED_TRACE(isa);
    select_isa(isa);
    test();
  }
  select_isa(before);
}

/// Deterministic irregular bytes (xorshift64, Marsaglia 2003).
inline std::vector<std::uint8_t> noise(std::size_t bytes, std::uint64_t seed = 1) {
  std::vector<std::uint8_t> result(bytes);
  std::uint64_t state = seed * 0x9E3779B97F4A7C15 + 1;
  for (std::uint8_t& byte : result) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    byte = static_cast<std::uint8_t>(state >> 56);
  }
  return result;
}

}  // namespace opbench
