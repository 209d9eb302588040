#include "harness/check/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace opbench::check {

// 8 of 10: 2 (C(10,0) + C(10,1) + C(10,2)) / 2^10 = 112/1024.
TEST(CheckStatistics, SignTestByHand) {
  const std::vector<double> eight = {1, 1, 1, 1, -1, 1, 1, -1, 1, 1};
  EXPECT_NEAR(sign_test(eight), 112.0 / 1024, 1e-12);
  const std::vector<double> twelve(12, 0.01);
  EXPECT_NEAR(sign_test(twelve), 2.0 / 4096, 1e-15);
}

TEST(CheckStatistics, SignTestLeavesZerosOutAndKnowsBothSides) {
  EXPECT_NEAR(sign_test(std::vector<double>{0, 0, -1, -2, -3}), 2.0 / 8, 1e-12);
  EXPECT_EQ(sign_test(std::vector<double>{1, -1}), 1);
  EXPECT_EQ(sign_test(std::vector<double>{0, 0}), 1);
  EXPECT_EQ(sign_test({}), 1);
}

// Source: the example of the paper, section 3.2. At q = 0.05 the first four of 15 are rejected.
TEST(CheckStatistics, BenjaminiHochbergOfThePaper) {
  const std::vector<double> p = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                                 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
  const std::vector<double> q = benjamini_hochberg(p);
  EXPECT_NEAR(q[0], 0.0001 * 15, 1e-12);
  EXPECT_NEAR(q[3], 0.0095 * 15 / 4, 1e-12);
  EXPECT_NEAR(q[5], 0.0298 * 15 / 7, 1e-12) << "the smaller of its own and those above it";
  EXPECT_EQ(q[14], 1);
  for (std::size_t i = 0; i < p.size(); ++i) EXPECT_EQ(q[i] <= 0.05, i < 4) << i;
}

TEST(CheckStatistics, BenjaminiHochbergKeepsTheOrderGiven) {
  const std::vector<double> q = benjamini_hochberg(std::vector<double>{0.04, 0.01, 0.03});
  EXPECT_NEAR(q[0], 0.04, 1e-12);
  EXPECT_NEAR(q[1], 0.03, 1e-12);
  EXPECT_NEAR(q[2], 0.04, 1e-12) << "0.045 alone, but no more than that of a larger p";
  EXPECT_TRUE(benjamini_hochberg({}).empty());
}

TEST(CheckStatistics, BootstrapOfEqualValuesIsThatValue) {
  const Interval interval = BootstrapMedians(std::vector<double>(12, 0.5)).interval(0.99);
  EXPECT_EQ(interval.low, 0.5);
  EXPECT_EQ(interval.high, 0.5);
}

// For the values 0..n-1, n odd, the bootstrap median is at most k with P(Bin(n, (k+1)/n) >=
// (n+1)/2). For n = 31 that is 0.0019 at k = 7, 0.0068 at k = 8 and, by symmetry, the same from the
// other end. The 99% interval is 8 to 22.
TEST(CheckStatistics, BootstrapIntervalOfThirtyOneRanks) {
  std::vector<double> values(31);
  std::iota(values.begin(), values.end(), 0.0);
  const BootstrapMedians medians(values);
  const Interval wide = medians.interval(0.99), narrow = medians.interval(0.90);
  EXPECT_EQ(wide.low, 8);
  EXPECT_EQ(wide.high, 22);
  EXPECT_GT(narrow.low, wide.low);
  EXPECT_LT(narrow.high, wide.high);
}

TEST(CheckStatistics, BootstrapOfTheSameValuesIsTheSame) {
  const std::vector<double> values = {0.3, -0.1, 0.2, 0.05, 0.11, -0.02};
  const Interval a = BootstrapMedians(values).interval(0.99),
                 b = BootstrapMedians(values).interval(0.99);
  EXPECT_EQ(a.low, b.low);
  EXPECT_EQ(a.high, b.high);
}

// Five groups of six equal values: whole groups are drawn. For 0..4 the bootstrap median is 0 with
// P(Bin(5, 1/5) >= 3) = 0.058, and 4 with the same probability. Both are inside 99%. Thirty single
// values would give a narrower interval.
TEST(CheckStatistics, BootstrapDrawsWholeGroups) {
  std::vector<double> values;
  std::vector<int> groups;
  for (int i = 0; i < 30; ++i) {
    values.push_back(i / 6);
    groups.push_back(i / 6);
  }
  const Interval grouped = BootstrapMedians(values, groups).interval(0.99);
  EXPECT_EQ(grouped.low, 0);
  EXPECT_EQ(grouped.high, 4);
  const Interval single = BootstrapMedians(values).interval(0.99);
  EXPECT_EQ(single.low, 1);
  EXPECT_EQ(single.high, 3);
  EXPECT_EQ(group_medians(values, groups), (std::vector<double>{0, 1, 2, 3, 4}));
}

// Source: Student's table, t of two-sided 5 %, 1 % and 0.1 %.
TEST(CheckStatistics, StudentPOfTheTable) {
  EXPECT_NEAR(student_p(12.706, 1), 0.05, 1e-5);
  EXPECT_NEAR(student_p(2.7764, 4), 0.05, 1e-5);
  EXPECT_NEAR(student_p(-4.604, 4), 0.01, 1e-5);
  EXPECT_NEAR(student_p(8.610, 4), 0.001, 1e-6);
  EXPECT_NEAR(student_p(1.9840, 100), 0.05, 1e-5);
  EXPECT_EQ(student_p(0, 7), 1);
  EXPECT_LT(student_p(1e6, 30), 1e-100);
}

// Means 2 and 5, variances 1, squared errors 1/3 each: t = 3/sqrt(2/3), 4 degrees. For equal
// spreads Welch's test is Student's: p = 0.0213 in R's t.test(1:3, 4:6).
TEST(CheckStatistics, WelchTest) {
  EXPECT_NEAR(welch_test(std::vector<double>{1, 2, 3}, std::vector<double>{4, 5, 6}), 0.021312,
              1e-6);
  EXPECT_EQ(welch_test(std::vector<double>{1, 1}, std::vector<double>{2, 2}), 0);
  EXPECT_EQ(welch_test(std::vector<double>{1, 1}, std::vector<double>{1, 1}), 1);
  EXPECT_EQ(welch_test(std::vector<double>{1}, std::vector<double>{4, 5, 6}), 1);
}

// U = 0, its mean is 4.5 and its variance 3*3*7/12: z = 4/sqrt(5.25). With ties, 1 2 2 and 2 3 4:
// the ranks 1 3 3 have the sum 7, U = 1, and the variance is 3*3/12*(7 - 24/30).
TEST(CheckStatistics, RankSumTest) {
  const auto p_of = [](double z) { return std::erfc(z / std::sqrt(2.0)); };
  EXPECT_NEAR(rank_sum_test(std::vector<double>{1, 2, 3}, std::vector<double>{4, 5, 6}),
              p_of(4 / std::sqrt(5.25)), 1e-12);
  EXPECT_NEAR(rank_sum_test(std::vector<double>{2, 1, 2}, std::vector<double>{4, 2, 3}),
              p_of(3 / std::sqrt(0.75 * (7 - 0.8))), 1e-12);
  EXPECT_EQ(rank_sum_test(std::vector<double>{1, 1}, std::vector<double>{1, 1}), 1);
  EXPECT_EQ(rank_sum_test({}, std::vector<double>{1, 1}), 1);
}

// Median 3, deviations 2 1 0 1 2: MAD 1. One outlier changes neither.
TEST(CheckStatistics, StandardErrorOfTheMedian) {
  EXPECT_NEAR(median_standard_error(std::vector<double>{1, 2, 3, 4, 5}, 25), 1.2533 * 1.4826 / 5,
              1e-12);
  EXPECT_NEAR(median_standard_error(std::vector<double>{1, 2, 3, 4, 500}, 25), 1.2533 * 1.4826 / 5,
              1e-12);
  EXPECT_EQ(median_standard_error({}, 30), 0);
}

}  // namespace opbench::check
