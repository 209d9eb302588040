#include "harness/check/verdict.h"

#include <gmock/gmock.h>

#include <cmath>

namespace opbench::check {
namespace {

using testing::HasSubstr;

// `rounds` log-ratios around `change`, alternately `spread` above and below.
std::vector<double> ratios(double change, double spread, int rounds) {
  std::vector<double> values;
  for (int i = 0; i < rounds; ++i) {
    values.push_back(std::log1p(change) + (i % 2 == 0 ? spread : -spread));
  }
  return values;
}

PairedTimes::Stage stage(double base_us, double change, double spread, int rounds) {
  PairedTimes::Stage result;
  for (const double ratio : ratios(change, spread, rounds)) {
    result.base_us.push_back(base_us);
    result.current_us.push_back(base_us * std::exp(ratio));
  }
  return result;
}

Item judged(const PairedTimes& times, double adjusted_p = 0) {
  Item item;
  item.speed = summarise(times);
  item.speed->adjusted_p = adjusted_p;
  judge_item(item, times, {0.05, 0.05});
  return item;
}

OpenedVariant variant(Status status, double max_ulp = 2, const char* bits = "1") {
  return {"v", status, "", Accuracy{max_ulp}, bits};
}

Item met(const OpenedVariant* base, const OpenedVariant* current, bool expect_open) {
  Item item;
  EXPECT_EQ(judge_accuracy(item, base, current), expect_open);
  return item;
}

}  // namespace

TEST(CheckVerdict, SpeedCallsByHand) {
  const SpeedRule rule{0.05, 0.05};
  EXPECT_EQ(judge_speed(ratios(0.10, 0.01, 12), 100, rule), SpeedCall::slower);
  EXPECT_EQ(judge_speed(ratios(-0.10, 0.01, 12), 100, rule), SpeedCall::faster);
  EXPECT_EQ(judge_speed(ratios(0.00, 0.01, 12), 100, rule), SpeedCall::same);
  EXPECT_EQ(judge_speed(ratios(0.03, 0.01, 12), 100, rule), SpeedCall::same) << "sure, but small";
  EXPECT_EQ(judge_speed(ratios(0.06, 0.20, 12), 100, rule), SpeedCall::unclear);
  EXPECT_EQ(judge_speed(ratios(0.00, 0.20, 12), 100, rule), SpeedCall::unclear);
}

TEST(CheckVerdict, ADifferenceBelowTheFloorIsNone) {
  EXPECT_EQ(judge_speed(ratios(0.10, 0.001, 30), 0.4, {0.05, 0.05}), SpeedCall::same);
  EXPECT_EQ(judge_speed(ratios(0.10, 0.001, 30), 0.6, {0.05, 0.05}), SpeedCall::slower);
}

TEST(CheckVerdict, LaterStagesDecideWithoutTheScreening) {
  PairedTimes times;
  times.screening = stage(10, 0.5, 0, 12);
  EXPECT_EQ(times.decisive().base_us.size(), 12u);
  times.verdict = stage(10, 0, 0, 30);
  times.confirmation = stage(10, 0, 0, 30);
  EXPECT_EQ(times.decisive().base_us.size(), 60u);
  EXPECT_EQ(summarise(times).change, 0);
  EXPECT_EQ(judged(times).verdict, Verdict::same);
}

TEST(CheckVerdict, SlowerNeedsConfirmation) {
  PairedTimes times;
  times.screening = stage(100, 0.10, 0.01, 12);
  times.verdict = stage(100, 0.10, 0.01, 30);
  times.is_cut = true;
  EXPECT_EQ(judged(times).verdict, Verdict::ambiguous);
  EXPECT_TRUE(judged(times).is_unfinished);
  EXPECT_THAT(judged(times).evidence, HasSubstr("the budget ended before it could be confirmed"));

  times.is_cut = false;
  times.confirmation = stage(100, 0.10, 0.01, 30);
  const Item item = judged(times);
  EXPECT_EQ(item.verdict, Verdict::slower);
  EXPECT_TRUE(item.is_regression);
  EXPECT_THAT(item.evidence, HasSubstr("+10.0%"));
  EXPECT_THAT(item.evidence, HasSubstr("slower in 60 of 60 rounds"));

  times.confirmation = stage(100, 0, 0.01, 30);  // another process does not show it
  EXPECT_EQ(judged(times).verdict, Verdict::ambiguous);
}

// No confirmation is no sign of a budget's end: 30 rounds that show no change need none.
TEST(CheckVerdict, OnlyABudgetThatEndedIsToBlame) {
  PairedTimes times;
  times.screening = stage(100, 0, 0.2, 12);
  times.verdict = stage(100, 0, 0.2, 30);
  EXPECT_EQ(judged(times).verdict, Verdict::ambiguous);
  EXPECT_FALSE(judged(times).is_unfinished);
  EXPECT_THAT(judged(times).evidence, testing::Not(HasSubstr("budget")));
  EXPECT_THAT(judged(times).evidence, HasSubstr("rounds would decide"));
}

TEST(CheckVerdict, SlowerMustSurviveTheAdjustmentForManyCases) {
  PairedTimes times;
  times.verdict = times.confirmation = stage(100, 0.10, 0.01, 30);
  EXPECT_EQ(judged(times, 0.05).verdict, Verdict::slower);
  EXPECT_EQ(judged(times, 0.06).verdict, Verdict::ambiguous);
}

// Four of ten pairs of processes show nothing: the rounds of the others agree with themselves only.
TEST(CheckVerdict, RoundsOfOnePairOfProcessesCountOnce) {
  PairedTimes times;
  for (PairedTimes::Stage* stage : {&times.verdict, &times.confirmation}) {
    for (int i = 0; i < 30; ++i) {
      const int pair = i / 3 + (stage == &times.verdict ? 0 : 10);
      stage->base_us.push_back(100);
      stage->current_us.push_back(pair % 10 < 6 ? 110 : 100 - 0.01 * i);
      stage->pair.push_back(pair);
    }
  }
  EXPECT_EQ(judged(times).verdict, Verdict::ambiguous);
  times.verdict.pair.clear();
  times.confirmation.pair.clear();
  for (double& us : times.confirmation.current_us) us = 110;
  EXPECT_EQ(judged(times).verdict, Verdict::slower) << "were they independent";
}

TEST(CheckVerdict, FasterNeverFails) {
  PairedTimes times;
  times.verdict = times.confirmation = stage(100, -0.10, 0.01, 30);
  const Item item = judged(times);
  EXPECT_EQ(item.verdict, Verdict::faster);
  EXPECT_FALSE(item.is_regression);
}

// 90% interval of +-0.2 about 0 against log(1.05) = 0.049: 60 (0.2/0.0488)^2 = 1008 rounds.
TEST(CheckVerdict, AmbiguousSaysHowManyRoundsWouldDecide) {
  PairedTimes times;
  times.verdict = times.confirmation = stage(100, 0, 0.2, 30);
  const Item item = judged(times);
  EXPECT_EQ(item.verdict, Verdict::ambiguous);
  EXPECT_THAT(item.evidence, HasSubstr("about 1009 rounds would decide"));
}

TEST(CheckVerdict, ALostVerdictIsARegression) {
  const OpenedVariant right = variant(Status::passed), wrong = variant(Status::failed),
                      broken = variant(Status::errored);
  for (const OpenedVariant* now : {&wrong, &broken}) {
    const Item item = met(&right, now, false);
    EXPECT_EQ(item.verdict, Verdict::error);
    EXPECT_TRUE(item.is_regression);
  }
}

TEST(CheckVerdict, AVariantThatIsGoneIsARegression) {
  const OpenedVariant right = variant(Status::passed), skipped = variant(Status::skipped),
                      wrong = variant(Status::failed);
  EXPECT_EQ(met(&right, nullptr, false).verdict, Verdict::gone);
  EXPECT_TRUE(met(&right, nullptr, false).is_regression);
  EXPECT_TRUE(met(&right, &skipped, false).is_regression);
  EXPECT_FALSE(met(&wrong, nullptr, false).is_regression) << "was wrong before";
}

TEST(CheckVerdict, WhatIsNewOrRightAgainIsNoRegression) {
  const OpenedVariant right = variant(Status::passed), wrong = variant(Status::failed);
  for (const Item& item :
       {met(nullptr, &right, false), met(&wrong, &right, false), met(nullptr, &wrong, false)}) {
    EXPECT_EQ(item.verdict, Verdict::new_);
    EXPECT_FALSE(item.is_regression);
  }
}

TEST(CheckVerdict, WrongInBothIsNotCompared) {
  const OpenedVariant wrong = variant(Status::failed), broken = variant(Status::errored);
  EXPECT_EQ(met(&wrong, &wrong, false).verdict, Verdict::incomparable);
  const Item item = met(&broken, &broken, false);
  EXPECT_EQ(item.verdict, Verdict::error);
  EXPECT_TRUE(item.is_unfinished);
  EXPECT_FALSE(item.is_regression);
}

// 1.5 x 2 + 1 = 4 ULP are allowed, and no more.
TEST(CheckVerdict, AnErrorMayGrowByHalfAndOneUlp) {
  const OpenedVariant before = variant(Status::passed, 2), four = variant(Status::passed, 4),
                      five = variant(Status::passed, 4.5), first = variant(Status::passed, 0),
                      one = variant(Status::passed, 1);
  met(&before, &four, true);
  met(&first, &one, true);
  const Item item = met(&before, &five, false);
  EXPECT_EQ(item.verdict, Verdict::error);
  EXPECT_TRUE(item.is_regression);
  EXPECT_THAT(item.evidence, HasSubstr("from 2 to 4.5 ULP"));
}

TEST(CheckVerdict, OtherBitsAreANotice) {
  const OpenedVariant before = variant(Status::passed, 2, "1"),
                      after = variant(Status::passed, 2, "2");
  EXPECT_THAT(met(&before, &after, true).notices,
              testing::ElementsAre(HasSubstr("no longer the same bits")));
  EXPECT_TRUE(met(&before, &before, true).notices.empty());
}

TEST(CheckVerdict, OneMoreConversionOfAnyKindIsARegression) {
  const Conversions before{2, 4096, 1, 3};
  for (const Conversions& more : {Conversions{3, 4096, 1, 3}, Conversions{2, 4097, 1, 3},
                                  Conversions{2, 4096, 2, 3}, Conversions{2, 4096, 1, 4}}) {
    OpenedVariant base = variant(Status::passed), current = base;
    base.conversions = before;
    current.conversions = more;
    Item item;
    EXPECT_FALSE(judge_conversions(item, base, current));
    EXPECT_EQ(item.verdict, Verdict::error);
    EXPECT_TRUE(item.is_regression);
    EXPECT_THAT(item.evidence, testing::StartsWith("converts more: "));
    EXPECT_TRUE(judge_conversions(item, base, base));
    EXPECT_TRUE(judge_conversions(item, current, base)) << "less is well";
  }
}

TEST(CheckVerdict, ConversionsAreNamedWithBothCounts) {
  OpenedVariant base = variant(Status::passed), current = base;
  base.conversions = {2, 4096, 1, 3};
  current.conversions = {3, 6144, 0, 3};
  Item item;
  judge_conversions(item, base, current);
  EXPECT_EQ(item.evidence, "converts more: 3 TransData, was 2; 6144 bytes of TransData, was 4096");
  EXPECT_THAT(item.notices, testing::ElementsAre("0 Cast, was 1"));
}

TEST(CheckVerdict, WhatHasNoConversionsIsNotJudgedByThem) {
  OpenedVariant base = variant(Status::passed), current = base;
  current.conversions = {3, 6144, 0, 3};
  Item item;
  EXPECT_TRUE(judge_conversions(item, base, current));
  EXPECT_TRUE(judge_conversions(item, base, base));
}

TEST(CheckVerdict, TheNextCommandOfAStepNamesItsFile) {
  Item item;
  item.case_key = "unit[N=1,fp16]";
  item.variant = "one index_select";
  item.context = ContextSource{"c.yaml", "unit", DType::fp16, {{"N", 1}}};
  item.verdict = Verdict::slower;
  EXPECT_EQ(next_command(item, "/old/opbench", {}),
            "opbench check --against /old/opbench --cases c.yaml --filter '^unit$' --set N=1 "
            "--dtype fp16 --variant 'one index_select' --threads 1");
}

TEST(CheckVerdict, NothingInANextCommandMeansAnythingToAShell) {
  Item item;
  item.case_key = "unit[fp32]";
  item.variant = "it's `id`";
  item.context = ContextSource{"cases/sp ace/$(id).yaml", "a.b", DType::fp32, {}};
  item.verdict = Verdict::gone;
  EXPECT_EQ(next_command(item, "./my builds/opbench", {}),
            "'./my builds/opbench' --cases 'cases/sp ace/$(id).yaml' --filter '^a\\.b$' "
            "--dtype fp32 --variant 'it'\\''s `id`' --threads 1");
}

TEST(CheckVerdict, NextCommands) {
  Item item;
  item.case_key = "relu[8,fp32]";
  item.variant = "relu";
  item.threads = 2;
  item.verdict = Verdict::slower;
  EXPECT_EQ(next_command(item, "/old/opbench", {"--cold"}),
            "opbench check --against /old/opbench --case 'relu[8,fp32]' --variant relu --threads 2 "
            "--cold");
  item.verdict = Verdict::error;
  EXPECT_EQ(next_command(item, "/old/opbench", {}),
            "opbench --case 'relu[8,fp32]' --variant relu --threads 2");
  item.verdict = Verdict::gone;
  EXPECT_EQ(next_command(item, "/old/opbench", {}),
            "/old/opbench --case 'relu[8,fp32]' --variant relu --threads 2");
  item.verdict = Verdict::same;
  EXPECT_EQ(next_command(item, "/old/opbench", {}), "");
}

}  // namespace opbench::check
