#include "tensor/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace opbench {
namespace {

std::vector<double> entries(std::uint64_t seed, std::int64_t count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  Permutation(seed, count).entries(0, values);
  return values;
}

}  // namespace

using Words = std::array<std::uint32_t, 4>;

// Source: kat_vectors of Random123 1.14, "philox4x32 10".
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (Words{0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8}));
  EXPECT_EQ(philox4x32({0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}, {0xFFFFFFFF, 0xFFFFFFFF}),
            (Words{0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD}));
  EXPECT_EQ(philox4x32({0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344}, {0xA4093822, 0x299F31D0}),
            (Words{0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1}));
}

// Counts are around powers of two, where the network leaves the range and returns.
TEST(Permutation, HasEveryNumberOnce) {
  for (const std::int64_t count : {1, 2, 3, 4, 5, 15, 16, 17, 1000, 1023, 1024, 1025}) {
    for (const std::uint64_t seed : {0ull, 1ull, 0xFFFFFFFF00000001ull}) {
      std::vector<double> values = entries(seed, count), all(values.size());
      std::sort(values.begin(), values.end());
      std::iota(all.begin(), all.end(), 0.0);
      EXPECT_EQ(values, all) << count << " with seed " << seed;
    }
  }
}

TEST(Permutation, PartsAreThoseOfTheWhole) {
  const std::vector<double> whole = entries(7, 100);
  std::vector<double> part(30);
  Permutation(7, 100).entries(50, part);
  EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + 50));
}

TEST(Permutation, FollowsItsSeed) {
  EXPECT_EQ(entries(1, 1000), entries(1, 1000));
  EXPECT_NE(entries(1, 1000), entries(2, 1000));
  EXPECT_NE(entries(1, 1000), entries(1 + (1ull << 32), 1000)) << "all 64 bits of it";
  const std::vector<double> values = entries(1, 1000);
  EXPECT_FALSE(std::is_sorted(values.begin(), values.end()));
}

}  // namespace opbench
