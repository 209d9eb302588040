#include <gtest/gtest.h>

#include <cstring>

#include "kernels/copy/plane.h"
#include "tensor/buffer.h"
#include "tests/support.h"

namespace opbench {
namespace {

// Both memories begin and end with the plane.
void expect_thin_transposed(const Plane& plane, bool stream) {
  SCOPED_TRACE(testing::Message() << plane.element_bytes << " bytes, " << plane.na << "x"
                                  << plane.nb << ", stream: " << stream);
  ASSERT_TRUE(is_thin(plane));
  const auto bytes = static_cast<std::size_t>(plane.element_bytes);
  const auto size = [&](std::int64_t rows, std::int64_t stride, std::int64_t row) {
    return static_cast<std::size_t>((rows - 1) * stride + row) * bytes;
  };
  const std::vector<std::uint8_t> from = noise(size(plane.nb, plane.from_stride, plane.na));
  Buffer to(size(plane.na, plane.to_stride, plane.nb));
  std::memset(to.data(), 0x5A, to.size());
  std::vector<std::uint8_t> expected(to.size(), 0x5A);
  for (std::int64_t a = 0; a < plane.na; ++a) {
    for (std::int64_t b = 0; b < plane.nb; ++b) {
      std::memcpy(expected.data() + static_cast<std::size_t>(a * plane.to_stride + b) * bytes,
                  from.data() + static_cast<std::size_t>(b * plane.from_stride + a) * bytes, bytes);
    }
  }
  transpose_plane(plane, from.data(), to.data(), stream);
  EXPECT_EQ(std::memcmp(to.data(), expected.data(), to.size()), 0);
}

}  // namespace

TEST(ThinPlane, WovenAndDealt) {
  on_every_isa([] {
    for (const int bytes : {1, 2, 4, 8}) {
      for (const std::int64_t side : {2, 3, 4}) {
        for (const std::int64_t count : {1, 2, 5, 15, 16, 17, 31, 33, 64, 65, 130, 257}) {
          expect_thin_transposed({bytes, count, side, count + 3, side, count, side}, false);
          expect_thin_transposed({bytes, side, count, side, count + 1, side, count}, false);
          // Streaming needs rows that begin at multiples of 64 bytes.
          const std::int64_t step = (count * bytes + 63) / 64 * 64 / bytes;
          expect_thin_transposed({bytes, side, count, side, step, side, count}, true);
        }
      }
    }
  });
}

TEST(ThinPlane, IsDenseOnItsThinSide) {
  EXPECT_TRUE(is_thin({4, 100, 3, 100, 3, 100, 3}));
  EXPECT_TRUE(is_thin({4, 3, 100, 3, 100, 3, 100}));
  EXPECT_FALSE(is_thin({4, 100, 3, 100, 4, 100, 3})) << "rows of the output lie apart";
  EXPECT_FALSE(is_thin({4, 3, 100, 8, 100, 3, 100})) << "rows of the input lie apart";
  EXPECT_FALSE(is_thin({4, 100, 4, 100, 4, 100, 3})) << "zeros in place of a row";
  EXPECT_FALSE(is_thin({4, 100, 5, 100, 5, 100, 5}));
}

}  // namespace opbench
