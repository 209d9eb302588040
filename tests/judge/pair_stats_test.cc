#include "judge/pair_stats.h"

#include <gtest/gtest.h>

namespace opbench {
namespace {

TEST(BucketCounts, KeepWhatLiesBetweenTheFirstAndTheLast) {
  BucketCounts counts;
  EXPECT_EQ(counts[0], 0);
  EXPECT_EQ(counts[63], 0);
  EXPECT_EQ(counts.total(), 0);
  counts.add(40, 3);
  counts.add(38, 1);
  counts.add(63, 2);
  counts.add(0, 0);  // adds nothing
  EXPECT_EQ(counts[37], 0);
  EXPECT_EQ(counts[38], 1);
  EXPECT_EQ(counts[39], 0);
  EXPECT_EQ(counts[40], 3);
  EXPECT_EQ(counts[63], 2);
  EXPECT_EQ(counts.total(), 6);
}

TEST(BucketCounts, AreJoinedBucketByBucket) {
  BucketCounts low, high, both;
  low.add(2, 1);
  high.add(5, 4);
  high.add(2, 1);
  both.add(5, 4);
  both.add(2, 2);
  low.add(high);
  EXPECT_EQ(low, both);
  high.add(BucketCounts());
  EXPECT_EQ(high.total(), 5);
  EXPECT_NE(high, low);
}

// Statistics are kept for every tensor of a dump. 64 buckets of int64 would take as much memory.
TEST(PairStats, AreSmall) { EXPECT_LE(sizeof(PairStats), 64 * sizeof(std::int64_t)); }

}  // namespace
}  // namespace opbench
