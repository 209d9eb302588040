// Tests a block that contains NaN and Inf, and earlier blocks.
#include "judge/measure_block.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "tests/support.h"
#include "tests/support/non_finite.h"

namespace opbench {
namespace {

PairStats stats_of(const std::vector<float>& actual, const std::vector<float>& expected,
                   std::int64_t first = 0, const PairStats& before = {}) {
  const ValueKind fp32{StoredType::f32, DType::fp32};
  Tolerance tolerance;
  tolerance.atol = 0.5;
  const PairRules rules = pair_rules(fp32, fp32, tolerance);
  const auto scratch = std::make_unique<BlockScratch>();
  std::copy(actual.begin(), actual.end(), scratch->actual);
  std::copy(expected.begin(), expected.end(), scratch->expected);
  return measure_block({rules, before, first, actual.size(), *scratch}, scratch->actual,
                       scratch->expected);
}

}  // namespace

// Errors 0, 0.5 and 4; the block begins at element 100.
TEST(MeasureBlockStats, OfFiniteValues) {
  on_every_isa([] {
    const PairStats stats = stats_of({1, 2.5F, 0}, {1, 2, 4}, 100);
    EXPECT_EQ(stats.count, 3);
    EXPECT_EQ(stats.inside, 2);
    EXPECT_EQ(stats.unequal, 2);
    EXPECT_EQ(stats.sum_abs, 4.5);
    EXPECT_EQ(stats.sum_rel, 0.25 + 1);
    EXPECT_EQ(static_cast<double>(stats.sum_sq), 0.25 + 16);
    EXPECT_EQ(stats.worst_abs.index, 102);
    EXPECT_EQ(stats.worst_abs.error, 4);
    EXPECT_EQ(stats.worst_abs.expected, 4);
    EXPECT_EQ(stats.worst_outside.index, 102);
    EXPECT_EQ(stats.actual.zero, 1);
    EXPECT_EQ(stats.actual.max, 2.5);
    EXPECT_EQ(stats.histogram.exact, 1);
  });
}

// Two NaN agree, and so do two Inf of equal sign. The three other pairs are mismatches and enter no
// sum.
TEST(MeasureBlockStats, OfNanAndInf) {
  on_every_isa([] {
    const PairStats stats =
        stats_of({kNan, kInf, 1, kNan, kInf, 2, 0}, {kNan, kInf, kNan, 3, -kInf, 2, 0}, 10);
    EXPECT_EQ(stats.count, 7);
    EXPECT_EQ(stats.nan_mismatches, 2);
    EXPECT_EQ(stats.inf_mismatches, 1);
    EXPECT_EQ(stats.first_mismatch, 12);
    EXPECT_EQ(stats.mismatch_actual, 1);
    EXPECT_TRUE(std::isnan(stats.mismatch_expected));
    EXPECT_EQ(stats.finite_pairs(), 2);
    EXPECT_EQ(stats.inside, 4);
    EXPECT_EQ(stats.unequal, 3);
    EXPECT_EQ(stats.sum_abs, 0);
    EXPECT_EQ(stats.actual.nan, 2);
    EXPECT_EQ(stats.actual.positive_inf, 2);
    EXPECT_EQ(stats.expected.negative_inf, 1);
    EXPECT_EQ(stats.actual.zero, 1);
    EXPECT_EQ(stats.expected.max, 3);
  });
}

// Squares of 1e30 overflow fp32 but not fp64, so the sum is correct.
TEST(MeasureBlockStats, OfLargeValues) {
  on_every_isa([] {
    const PairStats stats = stats_of({1e30F, 1}, {1e30F, 1});
    EXPECT_NEAR(static_cast<double>(stats.sum_actual_sq) / 1e60, 1, 1e-6);
    EXPECT_EQ(stats.unequal, 0);
    EXPECT_NEAR(stats.cosine(), 1, 1e-12);
  });
}

// An earlier element is worse, so the merged place is its place.
TEST(MeasureBlockStats, LooksForWhatIsWorseThanBefore) {
  on_every_isa([] {
    PairStats before = stats_of({9, 0}, {1, 0});
    const PairStats later = stats_of({3, 0}, {1, 0}, 2, before);
    before.merge(later);
    EXPECT_EQ(before.worst_abs.index, 0);
    EXPECT_EQ(before.worst_abs.error, 8);
    EXPECT_EQ(before.count, 4);
    EXPECT_EQ(before.sum_abs, 10);
  });
}

// x*x is 5, y*y is 17, and x*y is 1*1 + 2*4 = 9. |x - y| is 2, (x - y)^2 is 4, |2/4 - 1| is 0.5.
// The means are 1.5 and 2.5.
TEST(MeasureBlockStats, OfMsaccucmp) {
  on_every_isa([] {
    const ValueKind fp32{StoredType::f32, DType::fp32};
    const PairRules rules = pair_rules(fp32, fp32, {});
    const auto scratch = std::make_unique<BlockScratch>();
    scratch->x[0] = 1, scratch->x[1] = 2, scratch->y[0] = 1, scratch->y[1] = 4;
    const PairStats none;
    const BlockPlace place{rules, none, 0, 2, *scratch};
    const MsaccucmpSums sums = measure_block_sums(place, scratch->x, scratch->y);
    EXPECT_EQ(sums.count, 2);
    EXPECT_EQ(sums.xx, 5);
    EXPECT_EQ(sums.yy, 17);
    EXPECT_EQ(sums.xy, 9);
    EXPECT_EQ(sums.diff_abs, 2);
    EXPECT_EQ(sums.diff_sq, 4);
    EXPECT_EQ(sums.rel, 0.5);
    EXPECT_EQ(sums.x_mean, 1.5);
    EXPECT_EQ(sums.y_mean, 2.5);
    EXPECT_EQ(sums.x_spread, 0.5);
    EXPECT_EQ(sums.y_spread, 4.5);
    EXPECT_EQ(sums.y_max, 4);
    MsaccucmpSums both;
    const PairStats stats = measure_block(place, scratch->x, scratch->y, &both);
    EXPECT_EQ(both.xy, sums.xy);
    EXPECT_EQ(stats.sum_abs, 2);
    scratch->x[1] = kNan;
    EXPECT_TRUE(std::isnan(measure_block_sums(place, scratch->x, scratch->y).x_max));
  });
}

}  // namespace opbench
