#include "harness/check/speed_verdict.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace opbench::check {
namespace {

using testing::HasSubstr;

// `rounds` log-ratios, alternately `spread` above and below `change`.
std::vector<double> ratios(double change, double spread, int rounds) {
  std::vector<double> values;
  for (int i = 0; i < rounds; ++i) {
    values.push_back(std::log1p(change) + (i % 2 == 0 ? spread : -spread));
  }
  return values;
}

SpeedCall called(const std::vector<double>& ratios, double base_us, const SpeedRule& rule,
                 const std::vector<int>& pairs = {}) {
  return call_of(bounds_of(ratios, pairs), std::log1p(least_change(base_us, rule)));
}

PairedTimes::Stage stage(double base_us, double change, double spread, int rounds) {
  PairedTimes::Stage result;
  for (const double ratio : ratios(change, spread, rounds)) {
    result.base_us.push_back(base_us);
    result.current_us.push_back(base_us * std::exp(ratio));
  }
  return result;
}

CheckedItem judged(const PairedTimes& times, double adjusted_p = 0) {
  const SpeedRule rule{0.05, 0.05};
  SpeedFinding finding = find_speed(times, rule);
  finding.change.adjusted_p = adjusted_p;
  CheckedItem item;
  item.speed = finding.change;
  judge_item(item, finding, rule, times.is_cut);
  return item;
}

/// Pairs of processes of three rounds each, the first numbered `first`. `slow` of them, evenly
/// distributed, are slower by `change`; the others are equal. `null_change` is that of the A/A
/// process, up and down in turn.
PairedTimes::Stage pairs(int count, int slow, double change, int first = 0,
                         double null_change = 0) {
  PairedTimes::Stage result;
  for (int i = 0; i < count; ++i) {
    const bool is_slow = (i + 1) * slow / count > i * slow / count;
    for (int round = 0; round < 3; ++round) {
      result.add(100, is_slow ? 100 * (1 + change) : 100 + 0.01 * (round - 1), first + i);
      result.null_us.push_back(100 * std::exp(i % 2 == 0 ? null_change : -null_change));
    }
  }
  return result;
}

}  // namespace

TEST(SpeedVerdict, SpeedCallsByHand) {
  const SpeedRule rule{0.05, 0.05};
  EXPECT_EQ(called(ratios(0.10, 0.01, 12), 100, rule), SpeedCall::slower);
  EXPECT_EQ(called(ratios(-0.10, 0.01, 12), 100, rule), SpeedCall::faster);
  EXPECT_EQ(called(ratios(0.00, 0.01, 12), 100, rule), SpeedCall::same);
  EXPECT_EQ(called(ratios(0.03, 0.01, 12), 100, rule), SpeedCall::same) << "sure, but small";
  EXPECT_EQ(called(ratios(0.06, 0.20, 12), 100, rule), SpeedCall::unclear);
  EXPECT_EQ(called(ratios(0.00, 0.20, 12), 100, rule), SpeedCall::unclear);
}

TEST(SpeedVerdict, ADifferenceBelowTheFloorIsNone) {
  EXPECT_EQ(called(ratios(0.10, 0.001, 30), 0.4, {0.05, 0.05}), SpeedCall::same);
  EXPECT_EQ(called(ratios(0.10, 0.001, 30), 0.6, {0.05, 0.05}), SpeedCall::slower);
}

// For a call of 60 ns, a floor of 50 ns would hide all changes up to +83 %.
TEST(SpeedVerdict, TheFloorComesToAQuarterOfACallAtMost) {
  PairedTimes times;
  times.screening = times.verdict = times.confirmation = stage(0.06, 0.5, 0.01, 30);
  const CheckedItem slower = judged(times);
  EXPECT_EQ(slower.verdict, ChangeVerdict::slower);
  EXPECT_EQ(slower.threshold, 0.25);
  EXPECT_THAT(slower.evidence,
              HasSubstr("a change counts from 25%, the limit of the floor of 0.05 us"));
  times.screening = times.verdict = times.confirmation = stage(0.06, 0.2, 0.01, 30);
  EXPECT_EQ(judged(times).verdict, ChangeVerdict::same);
  EXPECT_EQ(judged(times).threshold, 0.25);
  EXPECT_THAT(judged(times).evidence, HasSubstr("; a change counts from 25%, the limit of"));
  times.screening = times.verdict = times.confirmation = stage(0.4, 0.1, 0.001, 30);
  EXPECT_EQ(judged(times).verdict, ChangeVerdict::same);
  EXPECT_THAT(judged(times).evidence,
              HasSubstr("; a change counts from 12.5%, the floor of 0.05 us"));
}

TEST(SpeedVerdict, AFloorThatIsAskedForIsThatFloor) {
  const SpeedRule rule{0.05, 1, std::numeric_limits<double>::infinity()};
  EXPECT_EQ(called(ratios(0.40, 0.001, 30), 2, rule), SpeedCall::same);
  EXPECT_EQ(called(ratios(0.60, 0.001, 30), 2, rule), SpeedCall::slower);
}

TEST(SpeedVerdict, LaterStagesDecideWithoutTheScreening) {
  PairedTimes times;
  times.screening = stage(10, 0.5, 0, 12);
  EXPECT_EQ(times.decisive().base_us.size(), 12u);
  times.verdict = stage(10, 0, 0, 30);
  times.confirmation = stage(10, 0, 0, 30);
  EXPECT_EQ(times.decisive().base_us.size(), 60u);
  EXPECT_EQ(find_speed(times, {}).change.change, 0);
  EXPECT_EQ(judged(times).verdict, ChangeVerdict::same);
}

TEST(SpeedVerdict, SlowerNeedsConfirmation) {
  PairedTimes times;
  times.screening = stage(100, 0.10, 0.01, 12);
  times.verdict = stage(100, 0.10, 0.01, 30);
  times.is_cut = true;
  EXPECT_EQ(judged(times).verdict, ChangeVerdict::ambiguous);
  EXPECT_TRUE(judged(times).is_unfinished);
  EXPECT_THAT(judged(times).evidence, HasSubstr("not confirmed: the budget ended"));

  times.is_cut = false;
  times.confirmation = stage(100, 0.10, 0.01, 30);
  const CheckedItem item = judged(times);
  EXPECT_EQ(item.verdict, ChangeVerdict::slower);
  EXPECT_TRUE(item.is_regression);
  EXPECT_THAT(item.evidence, HasSubstr("+10.0%"));
  EXPECT_THAT(item.evidence, HasSubstr("slower in 60 of 60 rounds"));

  times.confirmation = stage(100, 0, 0.01, 30);  // other processes do not confirm it
  EXPECT_EQ(judged(times).verdict, ChangeVerdict::ambiguous);
}

// A missing confirmation does not mean that the budget ended: 30 rounds without a change need none.
TEST(SpeedVerdict, OnlyABudgetThatEndedIsToBlame) {
  PairedTimes times;
  times.screening = stage(100, 0, 0.2, 12);
  times.verdict = stage(100, 0, 0.2, 30);
  EXPECT_EQ(judged(times).verdict, ChangeVerdict::ambiguous);
  EXPECT_FALSE(judged(times).is_unfinished);
  EXPECT_THAT(judged(times).evidence, testing::Not(HasSubstr("budget")));
  EXPECT_THAT(judged(times).evidence, HasSubstr("its 90% interval reaches beyond 5%"));
}

TEST(SpeedVerdict, SlowerMustSurviveTheAdjustmentForManyCases) {
  PairedTimes times;
  times.verdict = times.confirmation = stage(100, 0.10, 0.01, 30);
  EXPECT_EQ(judged(times, 0.05).verdict, ChangeVerdict::slower);
  EXPECT_EQ(judged(times, 0.06).verdict, ChangeVerdict::ambiguous);
}

// Four of ten pairs of processes are not significant: the rounds of a pair are correlated.
TEST(SpeedVerdict, RoundsOfOnePairOfProcessesCountOnce) {
  const PairedTimes::Stage times = pairs(10, 6, 0.10);
  EXPECT_EQ(called(log_ratios(times), 100, {0.05, 0.05}, times.pair), SpeedCall::unclear);
  EXPECT_EQ(called(log_ratios(pairs(10, 10, 0.10)), 100, {0.05, 0.05}, {}), SpeedCall::slower)
      << "were they independent";
}

TEST(SpeedVerdict, FasterNeverFails) {
  PairedTimes times;
  times.verdict = times.confirmation = stage(100, -0.10, 0.01, 30);
  const CheckedItem item = judged(times);
  EXPECT_EQ(item.verdict, ChangeVerdict::faster);
  EXPECT_FALSE(item.is_regression);
}

// The evidence names the test of the verdict that failed.
TEST(SpeedVerdict, AmbiguousNamesTheTestThatFailed) {
  PairedTimes times;
  times.screening = times.verdict = times.confirmation = stage(100, 0, 0.2, 30);
  EXPECT_THAT(judged(times).evidence, HasSubstr("its 90% interval reaches beyond 5%"));
  EXPECT_FALSE(judged(times).is_unfinished) << "the best guess is no change";
  EXPECT_TRUE(judged(times).is_too_noisy) << "it may be slower all the same";
  times.verdict = times.confirmation = stage(100, 0.06, 0.2, 30);
  EXPECT_THAT(judged(times).evidence, HasSubstr("its 99% interval includes 0"));
  EXPECT_FALSE(judged(times).is_unfinished) << "6 % by chance";
  EXPECT_TRUE(judged(times).is_too_noisy);
  times.verdict = stage(100, 0.10, 0.01, 30);
  times.confirmation = stage(100, 0.10, 0.2, 30);
  EXPECT_THAT(judged(times).evidence, HasSubstr("not confirmed in new processes"));
  EXPECT_TRUE(judged(times).is_unfinished) << "it looks slower";
  EXPECT_FALSE(judged(times).is_too_noisy);
  times.confirmation = times.verdict;
  EXPECT_THAT(judged(times, 0.06).evidence, HasSubstr("p = 0.06 after the adjustment"));
}

// Nine of 30 pairs take 1.5 times as long: two-sided p = 2 / 2^9. The median does not show them.
TEST(SpeedVerdict, WhatMeetsThreeProcessesInTenIsSlower) {
  PairedTimes times;
  times.screening = pairs(6, 2, 0.5);
  times.verdict = pairs(10, 3, 0.5, 6);
  times.confirmation = pairs(20, 6, 0.5, 16);
  const SpeedFinding finding = find_speed(times, {0.05, 0.05});
  EXPECT_EQ(finding.call, SpeedCall::sometimes_slower);
  EXPECT_NEAR(finding.change.sign_p, 2 / 512.0, 1e-12);
  const CheckedItem item = judged(times, finding.change.sign_p);
  EXPECT_EQ(item.verdict, ChangeVerdict::slower);
  EXPECT_TRUE(item.is_regression);
  EXPECT_NEAR(item.speed->change, 0, 1e-3);
  EXPECT_THAT(item.evidence,
              HasSubstr("9 of 30 pairs of processes slower than most by 5%, 0 faster"));
}

// 4 % slower in every process is below the threshold. Noise puts some pairs above 5 % and none
// below -5 %, which is not a slowdown of some processes.
TEST(SpeedVerdict, WhatIsSlowerEverywhereBelowTheThresholdIsNotSlowerSometimes) {
  PairedTimes times;
  for (auto* stage : {&times.screening, &times.verdict, &times.confirmation}) {
    for (int i = 0; i < 20; ++i) stage->add(100, 104 + (i % 5 - 2), i);
  }
  const SpeedFinding finding = find_speed(times, {0.05, 0.05});
  EXPECT_EQ(finding.tails.slower, 0);
  EXPECT_NE(finding.call, SpeedCall::sometimes_slower);
  EXPECT_FALSE(judged(times).is_regression);
}

// Equally many pairs are faster and slower: both builds have slow processes.
TEST(SpeedVerdict, SlowProcessesOfBothBuildsAreNoRegression) {
  PairedTimes times;
  times.screening = pairs(6, 0, 0);
  times.verdict = pairs(10, 3, 0.5, 6);
  times.confirmation = pairs(10, 3, -0.33, 16);
  const SpeedFinding finding = find_speed(times, {0.05, 0.05});
  EXPECT_EQ(finding.tails.slower, 3);
  EXPECT_EQ(finding.tails.faster, 3);
  EXPECT_EQ(finding.call, SpeedCall::same);
}

// Two slow pairs of six, 33 %, leave it undecided. With equal later pairs they are 8 % of 26.
TEST(SpeedVerdict, SlowPairsOfTheScreeningKeepItOpen) {
  PairedTimes times;
  times.screening = pairs(6, 2, 0.5);
  EXPECT_EQ(find_speed(times, {0.05, 0.05}).call, SpeedCall::unclear);
  times.verdict = pairs(10, 0, 0, 6);
  EXPECT_EQ(find_speed(times, {0.05, 0.05}).call, SpeedCall::unclear) << "2 of 16";
  EXPECT_THAT(judged(times).evidence,
              HasSubstr("2 of 16 pairs of processes slower than most by 5%, 0 faster"));
  times.confirmation = pairs(10, 0, 0, 16);
  EXPECT_EQ(find_speed(times, {0.05, 0.05}).call, SpeedCall::same) << "2 of 26";
}

// Medians of ten pairs of +-r have a median deviation of r: 3 x 1.2533 x 1.4826 r / sqrt(10) =
// 1.7628 r. For 8 %, r = log(1.08) / 1.7628.
TEST(SpeedVerdict, WhatEqualCodeShowsRaisesTheThreshold) {
  const double r = std::log(1.08) / 1.7628;
  PairedTimes times;
  times.verdict = pairs(10, 10, 0.07, 0, r);
  EXPECT_NEAR(own_noise(times.verdict), 0.08, 1e-4);
  const CheckedItem item = judged(times);
  EXPECT_EQ(item.verdict, ChangeVerdict::ambiguous);
  EXPECT_TRUE(item.is_unfinished) << "7 % may well be true";
  EXPECT_THAT(item.evidence, HasSubstr("below the A/A noise of 8%"));
  EXPECT_NEAR(item.threshold, 0.08, 1e-4);
  // For 30 pairs it is 1.08^(1/sqrt(3)) = 4.5 %.
  times.confirmation = pairs(20, 20, 0.07, 10, r);
  EXPECT_EQ(judged(times).verdict, ChangeVerdict::slower);
  EXPECT_EQ(judged(times).threshold, 0.05);
}

TEST(SpeedVerdict, FewPairsSayNothingOfNoise) {
  EXPECT_EQ(own_noise(pairs(2, 0, 0, 0, 0.1)), 0);
  EXPECT_GT(own_noise(pairs(4, 0, 0, 0, 0.1)), 0);
}

// A variant that can only be faster needs no further rounds.
TEST(SpeedVerdict, WhatCannotBeSlowerIsKnown) {
  PairedTimes times;
  times.verdict = times.confirmation = stage(100, -0.06, 0.03, 30);
  EXPECT_FALSE(find_speed(times, {0.05, 0.05}).may_be_slower);
  times.verdict = times.confirmation = stage(100, 0, 0.2, 30);
  EXPECT_TRUE(find_speed(times, {0.05, 0.05}).may_be_slower);
}

}  // namespace opbench::check
