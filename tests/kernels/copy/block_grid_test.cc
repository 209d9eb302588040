#include <gtest/gtest.h>

#include <cstring>

#include "kernels/copy/strided_ways.h"
#include "tests/kernels/copy/noisy_bytes.h"
#include "tests/support.h"

namespace opbench {
namespace {

void expect_grid_moved(const BlockGrid& grid) {
  SCOPED_TRACE(testing::Message() << grid.bytes << " bytes, " << grid.np << "x" << grid.nq);
  const std::int64_t size = grid.np * grid.nq * grid.bytes;
  const Bytes from = noisy(size), expected(size);
  for (std::int64_t p = 0; p < grid.np; ++p) {
    for (std::int64_t q = 0; q < grid.nq; ++q) {
      std::memcpy(expected.data() + p * grid.to_p + q * grid.to_q,
                  from.data() + p * grid.from_p + q * grid.from_q,
                  static_cast<std::size_t>(grid.bytes));
    }
  }
  for (const bool stream : {false, true}) {
    const Bytes found(size);
    move_blocks(grid, from.data(), found.data(), stream);
    EXPECT_TRUE(found == expected) << "stream: " << stream;
    EXPECT_TRUE(found.buffer.guards_intact());
  }
}

}  // namespace

// An outer transposition moves blocks from (p, q) to (q, p).
TEST(BlockGrid, BlocksChangeTheirOrder) {
  on_every_isa([] {
    for (const std::int64_t bytes : {16, 32, 48, 64, 80, 192}) {
      for (const std::int64_t np : {1, 7, 9}) {
        const std::int64_t nq = 5;
        expect_grid_moved({bytes, np, nq, nq * bytes, bytes, bytes, np * bytes});
      }
    }
  });
}

}  // namespace opbench
