#include "kernels/gather_rows.h"

#include <gtest/gtest.h>

#include "tests/support.h"

namespace opbench {
namespace {

// Rows of `bytes` in [batch 2, outer 2, extent 5] are picked by 4 indices a batch. One index is out
// of range.
template <class Index>
void expect_rows(std::size_t bytes) {
  const GatherView view{.batch = 2, .outer = 2, .extent = 5, .count = 4, .zeros_outside = true};
  const std::vector<Index> index = {4, 0, 7, 2, 1, 1, 3, 0};
  const std::vector<std::uint8_t> x = noise(20 * bytes);
  std::vector<std::uint8_t> y(16 * bytes, 1), expected(y.size(), 0);
  for (std::size_t row = 0; row < 16; ++row) {
    const auto from = static_cast<std::size_t>(index[row / 8 * 4 + row % 4]);
    if (from > 4) continue;
    std::copy_n(x.begin() + std::ptrdiff_t((row / 4 * 5 + from) * bytes), bytes,
                expected.begin() + std::ptrdiff_t(row * bytes));
  }
  const auto* source = reinterpret_cast<const std::byte*>(x.data());
  auto* target = reinterpret_cast<std::byte*>(y.data());
  for (const std::int64_t first : {0, 3, 8, 13}) {  // in parts, as threads do
    const std::int64_t last = first == 0 ? 3 : first == 3 ? 8 : first == 8 ? 13 : 16;
    copy_gathered_rows(view, index.data(), first, last, bytes, source, target);
  }
  EXPECT_EQ(y, expected) << bytes;
}

}  // namespace

TEST(GatherRows, OfEveryLength) {
  for (std::size_t bytes = 1; bytes <= 65; ++bytes) {
    expect_rows<std::int64_t>(bytes);
    expect_rows<std::int32_t>(bytes);
  }
}

}  // namespace opbench
