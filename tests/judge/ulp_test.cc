// IEEE 754: fp32 has 24 bits of precision, fp16 11, fp64 53; bf16 has 8.
#include "judge/ulp.h"

#include <gtest/gtest.h>

#include <limits>

namespace opbench {

TEST(UlpDistance, NeighboursAreOneApart) {
  EXPECT_EQ(ulp_distance(DType::fp64, 1, 1 + 0x1p-52), 1);
  EXPECT_EQ(ulp_distance(DType::fp32, 1, 1 + 0x1p-23), 1);
  EXPECT_EQ(ulp_distance(DType::fp32, 1, 1 - 0x1p-24), 1) << "closer below a power of two";
  EXPECT_EQ(ulp_distance(DType::fp16, 1, 1 + 0x1p-10), 1);
  EXPECT_EQ(ulp_distance(DType::bf16, 1, 1 + 0x1p-7), 1);
  EXPECT_EQ(ulp_distance(DType::fp16, 1 + 0x1p-9, 1), 2) << "in either direction";
}

TEST(UlpDistance, GoesThroughZero) {
  EXPECT_EQ(ulp_distance(DType::fp32, 0.0, -0.0), 0);
  EXPECT_EQ(ulp_distance(DType::fp32, 0x1p-149, -0x1p-149), 2);
  EXPECT_EQ(ulp_distance(DType::fp16, -0x1p-24, 0x1p-23), 3);
  EXPECT_EQ(ulp_distance(DType::fp64, -0x1p-1074, 0x1p-1073), 3);
}

// From 1 to 2 there are as many numbers as the fraction has values, from 1 to 4 twice as many.
TEST(UlpDistance, CountsRepresentableNumbers) {
  EXPECT_EQ(ulp_distance(DType::fp32, 1, 4), 0x1p24);
  EXPECT_EQ(ulp_distance(DType::bf16, 1, 2), 128);
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(ulp_distance(DType::fp16, 65504, inf), 1) << "infinity is the next after the largest";
}

TEST(UlpDistance, OfIntegersIsTheDifference) {
  EXPECT_EQ(ulp_distance(DType::int32, 7, 4), 3);
  EXPECT_EQ(ulp_distance(DType::int64, -2, 3), 5);
}

}  // namespace opbench
