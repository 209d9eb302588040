#include "tensor/checksum.h"

#include <gtest/gtest.h>

#include <set>

#include "tensor/parallel.h"
#include "tests/support.h"

namespace opbench {

TEST(Checksum, EveryFlippedBitShows) {
  std::vector<std::uint8_t> data = noise(200);
  const std::uint64_t before = checksum(data.data(), data.size());
  for (std::size_t bit = 0; bit < 8 * data.size(); ++bit) {
    data[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    EXPECT_NE(checksum(data.data(), data.size()), before) << bit;
    data[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
  }
  EXPECT_EQ(checksum(data.data(), data.size()), before);
}

TEST(Checksum, PairsOfFlippedSignsShow) {
  std::vector<std::uint64_t> data(64, 0x3FF0000000000000);
  std::set<std::uint64_t> seen = {checksum(data.data(), 512)};
  for (std::size_t i = 0; i < data.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      data[i] ^= std::uint64_t{1} << 63;
      data[k] ^= std::uint64_t{1} << 63;
      EXPECT_TRUE(seen.insert(checksum(data.data(), 512)).second) << i << " " << k;
      data[i] ^= std::uint64_t{1} << 63;
      data[k] ^= std::uint64_t{1} << 63;
    }
  }
}

TEST(Checksum, LengthCounts) {
  const std::vector<std::uint8_t> zeros(4097);
  std::set<std::uint64_t> seen;
  for (std::size_t bytes = 0; bytes <= zeros.size(); ++bytes) {
    EXPECT_TRUE(seen.insert(checksum(zeros.data(), bytes)).second) << bytes;
  }
}

TEST(Checksum, DependsOnBytesOnly) {
  const std::vector<std::uint8_t> data = noise((5 << 20) + 13);
  std::vector<std::uint8_t> shifted(data.size() + 1);
  std::copy(data.begin(), data.end(), shifted.begin() + 1);
  const std::uint64_t expected = checksum(data.data(), data.size());
  EXPECT_EQ(checksum(shifted.data() + 1, data.size()), expected) << "unaligned";
  for (const int threads : {1, 2, 7}) {
    with_threads(threads, [&] { EXPECT_EQ(checksum(data.data(), data.size()), expected); });
  }
}

TEST(Checksum, SwappedChunksShow) {
  std::vector<std::uint8_t> data = noise(2 << 20);
  const std::uint64_t before = checksum(data.data(), data.size());
  std::swap_ranges(data.begin(), data.begin() + (1 << 20), data.begin() + (1 << 20));
  EXPECT_NE(checksum(data.data(), data.size()), before);
}

}  // namespace opbench
