#include <gtest/gtest.h>

#include <cstring>

#include "kernels/copy/strided_ways.h"
#include "tensor/buffer.h"
#include "tests/support.h"

namespace opbench {
namespace {

// Both memories end with the last row. Bytes between rows of the output must stay unchanged.
void expect_copied(const ShortRows& rows, bool stream) {
  const auto size = [&](std::int64_t step, std::int64_t row) {  // at least 1: no null pointer
    return static_cast<std::size_t>(rows.count == 0 ? 1 : (rows.count - 1) * step + row);
  };
  const std::vector<std::uint8_t> from = noise(size(rows.from_step, rows.bytes));
  Buffer to(size(rows.to_step, rows.padded));
  std::vector<std::uint8_t> expected(to.size(), 0x77);
  std::memset(to.data(), 0x77, to.size());
  for (std::int64_t i = 0; i < rows.count; ++i) {
    std::uint8_t* const row = expected.data() + i * rows.to_step;
    std::memcpy(row, from.data() + i * rows.from_step, static_cast<std::size_t>(rows.bytes));
    std::memset(row + rows.bytes, 0, static_cast<std::size_t>(rows.padded - rows.bytes));
  }
  copy_short_rows(rows, from.data(), to.data(), stream);
  EXPECT_EQ(std::memcmp(to.data(), expected.data(), to.size()), 0)
      << rows.count << " of " << rows.bytes << " padded to " << rows.padded << ", from "
      << rows.from_step << " to " << rows.to_step;
}

constexpr std::int64_t kCounts[] = {0, 1, 2, 3, 7, 16, 33};

}  // namespace

TEST(ShortRows, SideBySide) {
  on_every_isa([] {
    for (std::int64_t bytes = 1; bytes <= 80; ++bytes) {
      for (const std::int64_t count : kCounts) {
        expect_copied({count, bytes, bytes, bytes, bytes}, false);
        expect_copied({count, bytes, bytes, bytes + 5, bytes}, false);
      }
    }
  });
}

TEST(ShortRows, Padded) {
  on_every_isa([] {
    for (std::int64_t bytes = 1; bytes <= 64; ++bytes) {
      const std::int64_t least = (bytes + 15) / 16 * 16;
      for (const std::int64_t padded : {least, least + 16, least + 48}) {
        for (const std::int64_t count : kCounts) {
          expect_copied({count, bytes, padded, bytes, padded}, false);
          expect_copied({count, bytes, padded, bytes + 3, padded + 32}, true);
        }
      }
    }
  });
}

TEST(ShortRows, ApartFromEachOther) {
  on_every_isa([] {
    for (std::int64_t bytes = 1; bytes <= 256; bytes += bytes < 70 ? 1 : 62) {
      for (const std::int64_t count : kCounts) {
        expect_copied({count, bytes, bytes, bytes + 1, bytes + 3}, false);
        expect_copied({count, bytes, bytes + 5, bytes, bytes + 5}, false);
      }
    }
  });
}

}  // namespace opbench
