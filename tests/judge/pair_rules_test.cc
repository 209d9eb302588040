#include "judge/pair_rules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace opbench {
namespace {

Tolerance following(double rtol, double atol, double limit) {
  Tolerance tolerance;
  tolerance.rtol = rtol;
  tolerance.atol = atol;
  tolerance.limit = limit;
  tolerance.follows_scale = true;
  return tolerance;
}

ValueKind kind(StoredType stored, DType dtype) { return {stored, dtype}; }

}  // namespace

// The units are 2^-1074, 2^-149, 2^-24 and 2^-133. bf16 has the exponents of fp32 and 16 bits less.
TEST(PairRules, SmallestUnitsAreThoseNextToZero) {
  EXPECT_EQ(smallest_unit(DType::fp64), 0x1p-1074);
  EXPECT_EQ(smallest_unit(DType::fp32), 0x1p-149);
  EXPECT_EQ(smallest_unit(DType::fp16), 0x1p-24);
  EXPECT_EQ(smallest_unit(DType::bf16), 0x1p-133);
  EXPECT_EQ(smallest_unit(DType::int32), 0);
}

// The divisor is the smallest normal number of the coarser dtype, 1 for integers, or a larger
// floor.
TEST(PairRules, DivideByWhatIsSmallest) {
  const auto smallest = [](DType actual, DType expected, double floor) {
    Tolerance tolerance;
    tolerance.relative_floor = floor;
    return pair_rules(kind(StoredType::f32, actual), kind(StoredType::f32, expected), tolerance)
        .smallest;
  };
  EXPECT_EQ(smallest(DType::fp32, DType::fp32, 0), 0x1p-126);
  EXPECT_EQ(smallest(DType::fp16, DType::fp32, 0), 0x1p-14);
  EXPECT_EQ(smallest(DType::fp32, DType::fp32, 1e-7), 1e-7);
  EXPECT_EQ(smallest(DType::fp16, DType::fp16, 1e-7), 0x1p-14);
  EXPECT_EQ(smallest(DType::int32, DType::int8, 0), 1);
}

// 0.01 of a scale of 4 is 0.04, a tenth is 0.4. A scale of 1 or more leaves no share of the
// element.
TEST(PairRules, PartsOfTheScaleBecomeNumbers) {
  const Tolerance four = at_scale(following(0.001, 0.01, 0.1), 4, DType::fp32);
  EXPECT_DOUBLE_EQ(four.atol, 0.04);
  EXPECT_DOUBLE_EQ(four.limit, 0.4);
  EXPECT_EQ(four.limit_share, 0);
  EXPECT_FALSE(four.follows_scale);
  // Converted rules are not converted again.
  EXPECT_EQ(at_scale(four, 100, DType::fp32), four);
}

// Below a scale of 1, an element may differ by 8 rtol of itself, up to 1: 0.008 of 0.5 and of 1.
TEST(PairRules, SmallScalesLeaveAShareOfTheElement) {
  const Tolerance small = at_scale(following(0.001, 0.01, 0.1), 0.01, DType::fp32);
  EXPECT_DOUBLE_EQ(small.limit_share, 0.008);
  EXPECT_DOUBLE_EQ(small.limit, 0.001);
  EXPECT_DOUBLE_EQ(limit_at(small, 0.5), 0.004);
  EXPECT_DOUBLE_EQ(limit_at(small, -1), 0.008);
  EXPECT_DOUBLE_EQ(limit_at(small, 1000), 0.008);
  EXPECT_DOUBLE_EQ(limit_at(small, 0.001), 0.001);
  EXPECT_EQ(share_of_limit(following(0.001, 0, 0), 1), 0);
}

// A tolerance is at least one unit of the coarser dtype, which is 2^-24 in fp16.
TEST(PairRules, NumbersAreNoSmallerThanAUnit) {
  const Tolerance tiny = at_scale(following(0.001, 0.01, 0.1), 1e-9, DType::fp16);
  EXPECT_EQ(tiny.atol, 0x1p-24);
  EXPECT_EQ(tiny.limit, 0x1p-24);
  PairRules rules = pair_rules(kind(StoredType::f32, DType::fp32),
                               kind(StoredType::f32, DType::fp16), following(0.001, 0.01, 0.1));
  set_scale(rules, 2);
  EXPECT_EQ(rules.scale, 2);
  EXPECT_DOUBLE_EQ(rules.tolerance.atol, 0.02);
  EXPECT_EQ(rules.common, DType::fp16);
}

// Bucket b holds errors from 2^(b - 41) on: 1 is the first of bucket 41. The end buckets hold the
// rest.
TEST(PairRules, BucketsArePowersOfTwo) {
  EXPECT_EQ(histogram_bucket(1), 41);
  EXPECT_EQ(histogram_bucket(std::nextafter(1, 0)), 40);
  EXPECT_EQ(histogram_bucket(1.999), 41);
  EXPECT_EQ(histogram_bucket(2), 42);
  EXPECT_EQ(histogram_bucket(0x1p-40), 1);
  EXPECT_EQ(histogram_bucket(0x1p-41), 0);
  EXPECT_EQ(histogram_bucket(std::numeric_limits<double>::denorm_min()), 0);
  EXPECT_EQ(histogram_bucket(0x1p22), 63);
  EXPECT_EQ(histogram_bucket(1e300), 63);
}

}  // namespace opbench
