#include "kernels/move/repeat.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support.h"

namespace opbench {

TEST(Repeat, FillsAndTouchesNothingElse) {
  for (const std::size_t bytes : {2, 4}) {
    for (const std::size_t count : kLengths) {
      for (std::size_t first = 0; first < 3; ++first) {  // elements: fp16 is aligned to 2 bytes
        const std::uint32_t pattern = 0xA1B2C3D4;
        std::vector<std::uint32_t> memory(count + 4, 0x55555555);
        std::vector<std::uint8_t> expected(memory.size() * 4, 0x55);
        for (std::size_t i = 0; i < count * bytes; ++i) {
          expected[first * bytes + i] =
              static_cast<std::uint8_t>(pattern >> 8 * (i % bytes) & 0xFF);
        }
        auto* to = reinterpret_cast<std::uint8_t*>(memory.data()) + first * bytes;
        repeat_element(&pattern, bytes, static_cast<std::int64_t>(count), to);
        const auto* all = reinterpret_cast<const std::uint8_t*>(memory.data());
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), all)) << bytes << " " << count;
      }
    }
  }
}

}  // namespace opbench
