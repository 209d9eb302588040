#include "tensor/permutation.h"

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

// Around powers of two, where the network walks out of the range and back.
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
