#include "kernels/copy/repeat.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support.h"

namespace opbench {

TEST(Repeat, FillsAndTouchesNothingElse) {
  for (const std::size_t bytes : {2, 4}) {
    for (const std::size_t count : kLengths) {
      for (std::size_t first = 0; first < 3; ++first) {  // in elements: fp16 is aligned to 2 bytes
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

TEST(Repeat, UnitsOneAfterTheOther) {
  const std::vector<std::uint8_t> units = noise(3 * 64);
  on_every_isa([&] {
    for (const std::size_t bytes : {2, 4, 8, 16, 32, 64}) {
      for (const std::size_t count : {0, 1, 2, 3, 5, 15, 16, 17, 33, 49, 130}) {
        for (const std::size_t first : {0, 1, 7}) {  // elements of 2 bytes
          for (const bool stream : {false, true}) {
            std::vector<std::uint8_t> expected(2 * first, 0x55), memory;
            for (std::size_t i = 0; i < 3 * count; ++i) {
              const auto* unit = units.data() + i / count * bytes;
              expected.insert(expected.end(), unit, unit + bytes);
            }
            expected.resize(expected.size() + 64, 0x55);
            memory.assign(expected.size(), 0x55);
            repeat_units({units.data(), bytes, 3, static_cast<std::int64_t>(count)}, stream,
                         memory.data() + 2 * first);
            EXPECT_EQ(memory, expected) << bytes << " " << count << " " << first << " " << stream;
          }
        }
      }
    }
  });
}

}  // namespace opbench
