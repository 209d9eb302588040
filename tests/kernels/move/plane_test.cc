// Transpositions and grids of blocks against their definitions.
#include "kernels/move/plane.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "tensor/buffer.h"
#include "tests/support.h"

namespace opbench {
namespace {

constexpr std::uint8_t kUntouched = 0x5A;

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

Bytes noisy(std::int64_t count) {
  Bytes bytes(count);
  const std::vector<std::uint8_t> values = noise(static_cast<std::size_t>(count));
  std::copy(values.begin(), values.end(), bytes.data());
  return bytes;
}

void transpose(const Plane& p, const std::uint8_t* from, std::uint8_t* to) {
  const auto bytes = static_cast<std::size_t>(p.element_bytes);
  for (std::int64_t a = 0; a < p.na; ++a) {
    for (std::int64_t b = 0; b < p.nb; ++b) {
      std::uint8_t* element = to + (a * p.to_stride + b) * p.element_bytes;
      if (b < p.valid)
        std::memcpy(element, from + (b * p.from_stride + a) * p.element_bytes, bytes);
      else
        std::memset(element, 0, bytes);
    }
  }
}

void expect_transposed(int element_bytes, std::int64_t na, std::int64_t nb, std::int64_t missing) {
  // As streaming needs them: short rows joined, others in steps of 64 bytes.
  const std::int64_t row = nb * element_bytes, step = 64 / element_bytes;
  const std::int64_t to_stride = row == 16 || row == 32 ? nb : (nb + step) / step * step;
  const Plane plane{element_bytes, na, nb, na + 5, to_stride, na + 5, nb - missing};
  SCOPED_TRACE(testing::Message() << element_bytes << " bytes, " << na << "x" << nb << ", "
                                  << missing << " missing");
  const Bytes from = noisy(nb * plane.from_stride * element_bytes);
  const Bytes expected(na * to_stride * element_bytes);
  transpose(plane, from.data(), expected.data());
  for (const bool stream : {false, true}) {
    const Bytes found(na * to_stride * element_bytes);
    transpose_plane(plane, from.data(), found.data(), stream);
    EXPECT_TRUE(found == expected) << "stream: " << stream;
    EXPECT_TRUE(found.buffer.guards_intact());
  }
}

void expect_moved(const BlockGrid& grid) {
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

TEST(Plane, HandComputed) {  // [[0 1 2] [3 4 5]] -> [[0 3] [1 4] [2 5]]
  const std::uint32_t from[] = {0, 1, 2, 3, 4, 5};
  std::uint32_t to[6];
  transpose_plane({4, 3, 2, 3, 2, 3, 2}, from, to, false);
  EXPECT_TRUE(std::ranges::equal(to, std::vector<std::uint32_t>{0, 3, 1, 4, 2, 5}));
}

// Around the squares of 16 bytes and the bands of a cache line.
TEST(Plane, EveryWidthAndSize) {
  on_every_isa([] {
    for (const int element_bytes : {1, 2, 4, 8}) {
      for (const std::int64_t na : {1, 3, 16, 17, 65}) {
        for (const std::int64_t nb : {1, 4, 15, 16, 33, 130}) {
          expect_transposed(element_bytes, na, nb, 0);
        }
      }
    }
  });
}

TEST(Plane, RowsThatDoNotExistAreZeros) {
  on_every_isa([] {
    for (const int element_bytes : {1, 2, 4, 8}) {
      for (const std::int64_t missing : {1, 5, 16})
        expect_transposed(element_bytes, 9, 16, missing);
    }
  });
}

// Blocks of an outer transposition: (p, q) to (q, p).
TEST(Plane, BlocksChangeTheirOrder) {
  on_every_isa([] {
    for (const std::int64_t bytes : {16, 32, 48, 64, 80, 192}) {
      for (const std::int64_t np : {1, 7, 9}) {
        const std::int64_t nq = 5;
        expect_moved({bytes, np, nq, nq * bytes, bytes, bytes, np * bytes});
      }
    }
  });
}

}  // namespace opbench
