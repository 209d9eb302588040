#include "kernels/move/row_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "kernels/move/line_writer.h"
#include "tensor/buffer.h"
#include "tensor/parallel.h"
#include "tests/support.h"

namespace opbench {

// Rows of every length one behind the other, from every place to every place.
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
        // At both ends of the buffer too: nothing outside may be touched.
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

// Two inputs, rows of several lengths, one output or two, against the definition.
TEST(CopyRows, FollowsItsPlan) {
  on_every_isa([] {
    std::mt19937 random(5);
    for (int round = 0; round < 100; ++round) {
      const std::int64_t stride = 1 + static_cast<std::int64_t>(random() % 900);
      RowPlan plan{1 + static_cast<std::int64_t>(random() % 40), {stride, stride}, {}};
      plan.outputs.resize(1 + random() % 2);
      for (auto& rows : plan.outputs) {
        for (std::size_t i = random() % 9; i-- > 0;) {
          const auto offset = static_cast<std::int64_t>(random()) % stride;
          rows.push_back(
              {random() % 2, offset, static_cast<std::int64_t>(random()) % (stride - offset + 1)});
        }
      }
      const auto bytes = static_cast<std::size_t>(stride * plan.outer);
      const Buffer a(bytes), b(bytes);
      std::memcpy(a.data(), noise(bytes, 1).data(), bytes);
      std::memcpy(b.data(), noise(bytes, 2).data(), bytes);
      const void* inputs[] = {a.data(), b.data()};
      std::vector<std::vector<std::byte>> expected(plan.outputs.size());
      for (std::size_t k = 0; k < plan.outputs.size(); ++k) {
        for (std::int64_t o = 0; o < plan.outer; ++o) {
          for (const RowSource& row : plan.outputs[k]) {
            const auto* from =
                static_cast<const std::byte*>(inputs[row.input]) + o * stride + row.offset;
            expected[k].insert(expected[k].end(), from, from + row.bytes);
          }
        }
      }
      for (const bool stream : {false, true}) {
        for (const int threads : {1, 3}) {
          std::vector<Buffer> outputs;
          std::vector<void*> pointers;
          for (const auto& output : expected) outputs.emplace_back(output.size());
          for (const Buffer& output : outputs) pointers.push_back(output.data());
          with_threads(threads, [&] { copy_rows(plan, stream)({inputs, pointers}); });
          for (std::size_t k = 0; k < outputs.size(); ++k) {
            ASSERT_TRUE(std::equal(expected[k].begin(), expected[k].end(),
                                   static_cast<const std::byte*>(outputs[k].data())))
                << "round " << round << ", output " << k;
            ASSERT_TRUE(outputs[k].guards_intact());
          }
        }
      }
    }
  });
}

}  // namespace opbench
