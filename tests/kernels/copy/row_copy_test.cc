#include "kernels/copy/row_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "kernels/copy/line_writer.h"
#include "tensor/buffer.h"
#include "tensor/parallel.h"
#include "tests/support.h"

namespace opbench {

// Copies two inputs, rows of several lengths, to one output or two, and compares with the
// definition.
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
