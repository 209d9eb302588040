#include "kernels/copy/line_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "tensor/buffer.h"
#include "tests/support.h"

namespace opbench {

// Rows of every length follow each other, from every place to every place.
TEST(LineWriter, PutsRowsTogether) {
  on_every_isa([] {
    std::mt19937 random(3);
    const Buffer from(8192), to(8192);
    const std::vector<std::uint8_t> data = noise(8192);
    std::memcpy(from.data(), data.data(), data.size());
    const auto* source = static_cast<const std::byte*>(from.data());
    auto* target = static_cast<std::byte*>(to.data());
    for (int round = 0; round < 400; ++round) {
      std::memset(target, 0x5A, 8192);
      const std::size_t first = random() % 130;
      const std::size_t longest = round % 2 == 0 ? 20 : 300;
      std::vector<Row> rows;
      std::vector<std::byte> expected;
      for (std::size_t i = random() % 24; i-- > 0;) {
        const std::size_t bytes = random() % longest;
        // Places include both ends of the buffer. Bytes outside the row must stay unchanged.
        const std::size_t at = random() % 4 == 0   ? 0
                               : random() % 4 == 0 ? 8192 - bytes
                                                   : random() % 7000;
        rows.push_back({source + at, bytes});
        expected.insert(expected.end(), source + at, source + at + bytes);
      }
      LineWriter writer(target + first, round % 3 != 0);
      const std::size_t half = rows.size() / 2;
      writer.append({rows.data(), half});
      writer.append({rows.data() + half, rows.size() - half});
      writer.finish();
      ASSERT_TRUE(std::equal(expected.begin(), expected.end(), target + first)) << round;
      const auto untouched = [](std::byte b) { return b == std::byte{0x5A}; };
      ASSERT_TRUE(std::all_of(target, target + first, untouched)) << round;
      ASSERT_TRUE(std::all_of(target + first + expected.size(), target + 8192, untouched)) << round;
      ASSERT_TRUE(to.guards_intact());
    }
  });
}

// Each of three writers gets every third row. Their outputs begin at odd places.
TEST(LineWriter, DealsRowsToSeveral) {
  on_every_isa([] {
    const Buffer from(600);
    const std::vector<std::uint8_t> data = noise(600);
    std::memcpy(from.data(), data.data(), data.size());
    const auto* source = static_cast<const std::byte*>(from.data());
    for (const bool stream : {false, true}) {
      const Buffer outputs[3] = {Buffer(512), Buffer(512), Buffer(512)};
      LineWriter writers[3];
      std::vector<std::byte> expected[3];
      for (std::size_t i = 0; i < 3; ++i) {
        writers[i] = LineWriter(static_cast<std::byte*>(outputs[i].data()) + 7 * i, stream);
      }
      std::vector<Row> rows;
      for (std::size_t i = 0; i < 18; ++i) {
        rows.push_back({source + 20 * i, 5 * i, i % 3});
        expected[i % 3].insert(expected[i % 3].end(), source + 20 * i, source + 25 * i);
      }
      LineWriter::append(writers, rows);
      for (std::size_t i = 0; i < 3; ++i) {
        writers[i].finish();
        const auto* out = static_cast<const std::byte*>(outputs[i].data()) + 7 * i;
        EXPECT_TRUE(std::equal(expected[i].begin(), expected[i].end(), out)) << i << stream;
        EXPECT_TRUE(outputs[i].guards_intact());
      }
    }
  });
}

}  // namespace opbench
