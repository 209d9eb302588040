#include "judge/measure_pairs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/compare/pair_support.h"

namespace opbench {
namespace {

// Five elements by hand. The errors are 0, 0.5, 0, 1, 0.25; the relative errors are 0, 0.25, 0,
// 0.25, 1/4.
const std::vector<float> kComputed = {1, 2.5F, 0, 5, -1.25F};
const std::vector<float> kReference = {1, 2, 0, 4, -1};

}  // namespace

TEST(MeasurePairs, OurMetricsByHand) {
  const PairStats stats = measure_one(float_pair(kComputed, kReference)).stats;
  EXPECT_EQ(stats.count, 5);
  EXPECT_EQ(stats.finite_pairs(), 5);
  EXPECT_EQ(stats.actual.zero, 1);
  EXPECT_EQ(stats.actual.min, -1.25);
  EXPECT_EQ(stats.actual.max, 5);
  EXPECT_EQ(stats.expected.zero, 1);
  EXPECT_EQ(stats.expected.min, -1);
  EXPECT_EQ(stats.expected.max, 4);
  EXPECT_EQ(stats.unequal, 3);
  EXPECT_EQ(stats.inside, 2);
  EXPECT_EQ(stats.beyond_limit, 3) << "off by more than 0.01 and 32 ULP";
  EXPECT_EQ(stats.worst_abs.index, 3);
  EXPECT_EQ(stats.worst_abs.actual, 5);
  EXPECT_EQ(stats.worst_abs.expected, 4);
  EXPECT_EQ(stats.worst_abs.error, 1);
  EXPECT_EQ(stats.worst_rel.index, 1) << "0.5/2 before 1/4 and 0.25/1";
  EXPECT_EQ(stats.worst_rel.error, 0.25);
  EXPECT_EQ(stats.mean_abs(), 0.35);
  EXPECT_EQ(stats.mean_rel(), 0.15);
  EXPECT_EQ(stats.sum_sq, 0.25 + 1 + 0.0625);
  EXPECT_EQ(stats.sum_actual_sq, 1 + 6.25 + 25 + 1.5625);
  EXPECT_EQ(stats.sum_expected_sq, 1 + 4 + 16 + 1);
  EXPECT_EQ(stats.sum_product, 1 + 5 + 20 + 1.25);
  EXPECT_DOUBLE_EQ(stats.cosine(), 27.25 / std::sqrt(33.8125 * 22));
  // One unit is 2^-22 from 2 to 4, 2^-21 from 4 to 8 and 2^-23 from 1 to 2.
  EXPECT_EQ(stats.max_ulp, 0x1p21);
  EXPECT_EQ(stats.sum_ulp, 0.5 * 0x1p22 + 1 * 0x1p21 + 0.25 * 0x1p23);
  EXPECT_EQ(stats.histogram.exact, 2);
  // Bucket b ends at 2^(b-40).
  EXPECT_EQ(stats.histogram.counts[39], 1) << "0.25";
  EXPECT_EQ(stats.histogram.counts[40], 1) << "0.5";
  EXPECT_EQ(stats.histogram.counts[41], 1) << "1";
}

TEST(MeasurePairs, MsaccucmpsSumsByHand) {
  const MsaccucmpSums sums = measure_one(float_pair(kComputed, kReference)).sums;
  EXPECT_EQ(sums.count, 5);
  EXPECT_EQ(sums.xx, 33.8125);
  EXPECT_EQ(sums.yy, 22);
  EXPECT_EQ(sums.xy, 27.25);
  EXPECT_EQ(sums.diff_sq, 1.3125);
  EXPECT_EQ(sums.diff_abs, 1.75);
  EXPECT_EQ(sums.rel, 0.75) << "nothing where the golden value is 0";
  EXPECT_EQ(sums.max_diff, 1);
  EXPECT_EQ(sums.max_rel, 0.25);
  EXPECT_EQ(sums.x_min, -1.25);
  EXPECT_EQ(sums.x_max, 5);
  EXPECT_EQ(sums.y_min, -1);
  EXPECT_EQ(sums.y_max, 4);
  EXPECT_DOUBLE_EQ(sums.x_mean, 1.45);
  EXPECT_DOUBLE_EQ(sums.y_mean, 1.2);
  EXPECT_DOUBLE_EQ(sums.x_spread, 33.8125 - 5 * 1.45 * 1.45);
  EXPECT_DOUBLE_EQ(sums.y_spread, 22 - 5 * 1.2 * 1.2);
  // N(x) = 0.36, 0.6, 0.2, 1, 2^-23; N(y) = 0.4, 0.6, 0.2, 1, 2^-23.
  EXPECT_DOUBLE_EQ(sums.kl_x, 2.16 + 0x1p-23);
  EXPECT_DOUBLE_EQ(sums.kl_y, 2.2 + 0x1p-23);
  EXPECT_NEAR(sums.kl_log, 0.36 * std::log(0.36 / 0.4), 1e-15);
  // The sum of p*log(p/q) with p = N(x)/2.16 and q = N(y)/2.2.
  EXPECT_NEAR(kl_divergence(sums),
              0.36 / 2.16 * std::log(0.36 / 2.16 * 2.2 / 0.4) + 1.8 / 2.16 * std::log(2.2 / 2.16),
              1e-9);
}

}  // namespace opbench
