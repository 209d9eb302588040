// Checks transpositions against their definition.
#include "kernels/copy/plane.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "tests/kernels/copy/noisy_bytes.h"
#include "tests/support.h"

namespace opbench {
namespace {

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
  // Streaming needs short rows joined, and other rows in steps of 64 bytes.
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

}  // namespace

TEST(Plane, HandComputed) {  // [[0 1 2] [3 4 5]] -> [[0 3] [1 4] [2 5]]
  const std::uint32_t from[] = {0, 1, 2, 3, 4, 5};
  std::uint32_t to[6];
  transpose_plane({4, 3, 2, 3, 2, 3, 2}, from, to, false);
  EXPECT_TRUE(std::ranges::equal(to, std::vector<std::uint32_t>{0, 3, 1, 4, 2, 5}));
}

// Sizes are around the squares of 16 bytes and the bands of a cache line.
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
      for (const std::int64_t nb : {16, 64}) {
        for (const std::int64_t rows : {0, 1, 3, 4, 5, 8, 11, 15}) {
          for (const std::int64_t na : {1, 9}) expect_transposed(element_bytes, na, nb, nb - rows);
        }
      }
    }
  });
}

}  // namespace opbench
