#include "harness/run/samples.h"

#include <gtest/gtest.h>

#include <cmath>

namespace opbench {

TEST(Samples, Median) {
  EXPECT_EQ(median_of({}), 0);
  EXPECT_EQ(median_of({7}), 7);
  EXPECT_EQ(median_of({3, 1, 2}), 2);
  EXPECT_EQ(median_of({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median_of({1, 1, 1, 100}), 1) << "one outlier does not move it";
}

// Mean 4; the squared deviations 9 + 4 + 1 + 0 + 36 are 50, divided by n - 1: 12.5.
TEST(Samples, SpreadByHand) {
  const Spread spread = spread_of({10, 1, 4, 2, 3});
  EXPECT_EQ(spread.median, 3);
  EXPECT_EQ(spread.min, 1);
  EXPECT_EQ(spread.mad, 1) << "of 7, 2, 1, 1, 0";
  EXPECT_DOUBLE_EQ(spread.cv, std::sqrt(12.5) / 4);
}

// The 2nd and the 8th of 9 values enclose the median: at most 1 of 9 coins shows heads with a
// probability of 10/512, which is below 2.5 %; at most 2 with 46/512.
TEST(Samples, NoiseIsAnIntervalOfOrderStatistics) {
  EXPECT_DOUBLE_EQ(noise_of_median({90, 10, 14, 9, 8, 10, 12, 1, 11}), (14. - 8) / 2 / 10);
  EXPECT_DOUBLE_EQ(noise_of_median({10, 9, 11, 8, 12, 10}), (12. - 8) / 2 / 10) << "all of 6";
  EXPECT_TRUE(std::isinf(noise_of_median({1, 1, 1, 1, 1}))) << "2 * (1/2)^5 is above 5 %";
  EXPECT_TRUE(std::isinf(noise_of_median({0, 0, 0, 0, 0, 0})));
  EXPECT_EQ(noise_of_median(std::vector<double>(10'000, 3)), 0);
}

TEST(Samples, OneOrNoneHaveNoSpread) {
  const Spread one = spread_of({5});
  EXPECT_EQ(one.median, 5);
  EXPECT_EQ(one.mad, 0);
  EXPECT_EQ(one.cv, 0);
  const Spread none = spread_of({});
  EXPECT_EQ(none.median, 0);
  EXPECT_EQ(none.cv, 0);
  EXPECT_EQ(spread_of({0, 0}).cv, 0) << "no mean to relate to";
}

}  // namespace opbench
