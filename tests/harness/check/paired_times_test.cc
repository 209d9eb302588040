#include "harness/check/paired_times.h"

#include <gmock/gmock.h>

#include <cmath>

namespace opbench::check {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Rounds with these times of the baseline, and twice these times of the current build; all of one
/// pair.
PairedTimes::Stage stage_of(const std::vector<double>& base_us, int pair) {
  PairedTimes::Stage stage;
  for (const double us : base_us) stage.add(us, 2 * us, pair);
  return stage;
}

}  // namespace

TEST(PairedTimes, DecideByTheScreeningUntilThereIsAVerdict) {
  PairedTimes times;
  times.screening = stage_of({1, 2}, 0);
  times.confirmation = stage_of({9}, 9);
  EXPECT_THAT(times.decisive().base_us, ElementsAre(1, 2));
  times.verdict = stage_of({3}, 1);
  EXPECT_THAT(times.decisive().base_us, ElementsAre(3, 9)) << "both later stages, in their order";
  EXPECT_THAT(times.decisive().pair, ElementsAre(1, 9));
  EXPECT_THAT(times.all().base_us, ElementsAre(1, 2, 3, 9));
  EXPECT_THAT(times.all().current_us, ElementsAre(2, 4, 6, 18));
}

TEST(PairedTimes, AppendTimesOfTheOtherBuildAgainstItself) {
  PairedTimes::Stage first = stage_of({1}, 0), second = stage_of({2}, 1);
  first.null_us = {1.5};
  second.null_us = {2.5};
  first.append(second);
  EXPECT_EQ(first.size(), 2U);
  EXPECT_THAT(first.null_us, ElementsAre(1.5, 2.5));
}

// The A/A process may have fewer rounds.
TEST(PairedTimes, AreCutInAllTheirLists) {
  PairedTimes::Stage stage = stage_of({1, 2, 3}, 4);
  stage.null_us = {7};
  stage.cut(2);
  EXPECT_THAT(stage.base_us, ElementsAre(1, 2));
  EXPECT_THAT(stage.current_us, ElementsAre(2, 4));
  EXPECT_THAT(stage.pair, ElementsAre(4, 4));
  EXPECT_THAT(stage.null_us, ElementsAre(7));
  stage.cut(0);
  EXPECT_TRUE(stage.empty());
  EXPECT_THAT(stage.null_us, IsEmpty());
}

// log(2 / 1), log(1 / 4): equal factors up and down have equal magnitudes.
TEST(PairedTimes, RatiosAreLogarithmsOfThisBuildOverTheOther) {
  PairedTimes::Stage stage;
  stage.add(1, 2, 0);
  stage.add(4, 1, 0);
  stage.add(3, 3, 1);
  const std::vector<double> ratios = log_ratios(stage);
  ASSERT_EQ(ratios.size(), 3U);
  EXPECT_DOUBLE_EQ(ratios[0], std::log(2.0));
  EXPECT_DOUBLE_EQ(ratios[1], -2 * std::log(2.0));
  EXPECT_DOUBLE_EQ(ratios[2], 0);
}

// 12 rounds in 6 pairs, 30 in 10: whole rounds in each pair.
TEST(PairedTimes, RoundsAreSharedOutEvenly) {
  EXPECT_EQ(kScreeningRounds % kScreeningPairs, 0);
  EXPECT_EQ(kVerdictRounds, 30);
  const int first = kScreeningRounds / kScreeningPairs;
  EXPECT_EQ((kScreeningRounds - first) % (kLeastScreeningPairs - 1), 0);
}

}  // namespace opbench::check
