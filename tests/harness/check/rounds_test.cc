// `Rounds` on builds that answer from a script, stage by stage: its requests to each build, and the
// number of rounds of each pair of processes.
#include "harness/check/rounds.h"

#include <gmock/gmock.h>

#include "tests/harness/check/scripted_build.h"

namespace opbench::check {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class CheckRounds : public testing::Test {
 protected:
  CheckRounds() {
    base_.add_case(kCase, always(100));
    null_.add_case(kCase, always(100));
    how_.sample_seconds = 0.4;
  }

  /// Calls `use` with the rounds of the builds, with `budget` invented seconds left.
  template <class Use>
  void with_rounds(double budget, Use use) {
    WorkerClient base(with_clock(base_)), null(with_clock(null_)), current(with_clock(current_));
    const Budget until{[this] { return clock_s_; }, clock_s_ + budget};
    Rounds rounds(base, null, current, how_, until, AccuracyRule{});
    use(rounds);
  }

  /// A case whose accuracy was judged already.
  static ComparedCase opened_case() {
    ComparedCase compared = unopened_case();
    ComparedVariant& variant = compared.variants.emplace_back();
    variant.item.variant = "v";
    variant.is_open = true;
    return compared;
  }
  static ComparedCase unopened_case() {
    ComparedCase compared;
    compared.spec = ScriptedBuild::listed_case(kCase);
    compared.base = compared.spec;
    return compared;
  }

  WorkerProgram with_clock(ScriptedBuild& build) {
    WorkerProgram program = build.program();
    program.now_s = [this] { return clock_s_; };
    return program;
  }

  double clock_s_ = 0;
  std::string log_;  ///< 'b', 'n' and 'c': process of each sample
  ScriptedBuild base_{"base", clock_s_, log_}, null_{"null", clock_s_, log_},
      current_{"current", clock_s_, log_};
  OpenRequest how_;
};

// Two rounds in each of six pairs, in samples of a quarter of 0.4 s. It is verified once.
TEST_F(CheckRounds, ScreenInSixPairsOfProcesses) {
  current_.add_case(kCase, always(110));
  ComparedCase compared = unopened_case();
  with_rounds(1000, [&](Rounds& rounds) { rounds.screen(compared); });
  ASSERT_THAT(compared.variants, SizeIs(1));
  const PairedTimes::Stage& times = compared.variants[0].times.screening;
  EXPECT_THAT(times.pair, ElementsAre(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5));
  EXPECT_THAT(times.base_us, Each(100));
  EXPECT_THAT(times.current_us, Each(110));
  EXPECT_THAT(times.null_us, IsEmpty());
  EXPECT_TRUE(compared.variants[0].is_open);
  ASSERT_THAT(current_.opened(), SizeIs(6));
  for (const OpenRequest& request : current_.opened()) EXPECT_EQ(request.sample_seconds, 0.1);
  EXPECT_TRUE(current_.opened()[0].verify);
  EXPECT_FALSE(current_.opened()[1].verify);
  EXPECT_EQ(null_.processes(), 0);
}

// Opening takes more than a second in total: 2 + 5 + 5 rounds in three pairs.
TEST_F(CheckRounds, ScreenWhatOpensSlowlyInThreePairs) {
  current_.add_case(kCase, always(110));
  base_.open_seconds = current_.open_seconds = 0.6;
  ComparedCase compared = unopened_case();
  with_rounds(1000, [&](Rounds& rounds) { rounds.screen(compared); });
  EXPECT_THAT(compared.variants.at(0).times.screening.pair,
              ElementsAre(0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2));
  base_.open_seconds = current_.open_seconds = 0.4;
  ComparedCase faster = unopened_case();
  with_rounds(1000, [&](Rounds& rounds) { rounds.screen(faster); });
  EXPECT_EQ(faster.variants.at(0).times.screening.pair.back(), 5);
}

// 0.28 s for each pair: after 0.5 s the second pair is incomplete, and an incomplete screening does
// not count.
TEST_F(CheckRounds, AScreeningThatTheBudgetCutsIsNone) {
  current_.add_case(kCase, always(110));
  ComparedCase compared = unopened_case();
  with_rounds(0.5, [&](Rounds& rounds) { rounds.screen(compared); });
  const ComparedVariant& variant = compared.variants.at(0);
  EXPECT_TRUE(variant.times.screening.empty());
  EXPECT_FALSE(variant.is_open);
  EXPECT_TRUE(variant.item.is_unfinished);
  EXPECT_EQ(variant.item.evidence, "not measured: the budget ended");
}

// Three rounds in each of ten pairs, with the A/A process, in whole samples.
TEST_F(CheckRounds, MeasureInTenPairsWithAThirdProcess) {
  current_.add_case(kCase, always(110));
  ComparedCase compared = opened_case();
  with_rounds(1000, [&](Rounds& rounds) { rounds.measure(compared, &PairedTimes::verdict); });
  const PairedTimes& times = compared.variants[0].times;
  EXPECT_EQ(times.verdict.size(), 30U);
  EXPECT_THAT(times.verdict.null_us, SizeIs(30));
  EXPECT_EQ(times.verdict.pair.front(), 0);
  EXPECT_EQ(times.verdict.pair.back(), 9);
  EXPECT_TRUE(times.screening.empty());
  EXPECT_EQ(current_.opened()[0].sample_seconds, 0.4);
  EXPECT_THAT(current_.opened()[0].variants, ElementsAre("v"));
  EXPECT_FALSE(current_.opened()[0].verify);
  EXPECT_EQ(base_.processes(), 10);
  EXPECT_EQ(null_.processes(), 10);
  EXPECT_EQ(log_.substr(0, 9), "nbccbnnbc") << "every second round the other way round";
}

// A pair takes 3 * 0.1 + 9 * 0.02 = 0.48 s. Two pairs are complete after 1.2 s and are kept.
TEST_F(CheckRounds, WhatTheBudgetCutsHasThePairsBeforeIt) {
  current_.add_case(kCase, always(110));
  ComparedCase compared = opened_case();
  with_rounds(1.2, [&](Rounds& rounds) { rounds.measure(compared, &PairedTimes::confirmation); });
  const PairedTimes::Stage& times = compared.variants[0].times.confirmation;
  EXPECT_THAT(times.pair, ElementsAre(0, 0, 0, 1, 1, 1));
  EXPECT_THAT(times.null_us, SizeIs(6));
}

// Numbers of pairs continue from stage to stage, so that each pair has its own.
TEST_F(CheckRounds, NumberPairsOverAllStages) {
  current_.add_case(kCase, always(110));
  ComparedCase compared = unopened_case();
  with_rounds(1000, [&](Rounds& rounds) {
    rounds.screen(compared);
    rounds.measure(compared, &PairedTimes::verdict);
    rounds.measure(compared, &PairedTimes::confirmation);
  });
  const PairedTimes& times = compared.variants[0].times;
  EXPECT_EQ(times.screening.pair.front(), 0);
  EXPECT_EQ(times.verdict.pair.front(), 6);
  EXPECT_EQ(times.confirmation.pair.front(), 16);
  EXPECT_EQ(times.confirmation.pair.back(), 25);
}

TEST_F(CheckRounds, AWorkerThatIsLostCostsItsCase) {
  current_.add_case(kCase, always(110));
  ComparedCase compared = opened_case();
  compared.base = ScriptedBuild::listed_case("no such");
  with_rounds(1000, [&](Rounds& rounds) { rounds.measure(compared, &PairedTimes::verdict); });
  const ComparedVariant& variant = compared.variants[0];
  EXPECT_EQ(variant.item.verdict, ChangeVerdict::error);
  EXPECT_TRUE(variant.item.is_unfinished);
  EXPECT_FALSE(variant.item.is_regression);
  EXPECT_THAT(variant.item.evidence, HasSubstr("no such case"));
}

// The six orders of three processes are used in turn.
TEST_F(CheckRounds, FirstCallsAreTakenInAllOrders) {
  current_.add_case(kCase, always(110));
  ComparedCase compared = opened_case();
  with_rounds(1000, [&](Rounds& rounds) {
    rounds.take_first_calls(compared, compared.variants[0], &PairedTimes::verdict, 6);
  });
  EXPECT_EQ(log_, "nbcncbbncbcncnbcbn");
  const PairedTimes::Stage& times = compared.variants[0].times.verdict;
  EXPECT_THAT(times.pair, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(times.base_us, Each(100));
  EXPECT_THAT(times.current_us, Each(110));
  EXPECT_THAT(times.null_us, SizeIs(6));
  EXPECT_EQ(current_.processes(), 6);
  EXPECT_EQ(current_.first_calls(), 6);
  EXPECT_TRUE(current_.opened()[0].first_call);
  EXPECT_EQ(current_.opened()[5].layout, 6U);
}

// Without the A/A process, the same orders without it.
TEST_F(CheckRounds, FirstCallsOfTheScreeningHaveNoThirdProcess) {
  current_.add_case(kCase, always(110));
  ComparedCase compared = opened_case();
  with_rounds(1000, [&](Rounds& rounds) {
    rounds.take_first_calls(compared, compared.variants[0], &PairedTimes::screening, 6);
  });
  EXPECT_EQ(log_, "bccbbcbccbcb");
  EXPECT_THAT(compared.variants[0].times.screening.null_us, IsEmpty());
  EXPECT_EQ(null_.processes(), 0);
}

TEST_F(CheckRounds, AFirstCallThatIsWrongIsARegressionUnlessTheOtherOneIs) {
  const auto wrong = [](ScriptedSample) { return std::string("a NaN"); };
  ScriptedVariant bad = ScriptedBuild::passing("v", always(110));
  bad.wrong = wrong;
  current_.add_case(ScriptedBuild::listed_case(kCase), {bad});
  ComparedCase compared = opened_case();
  with_rounds(1000, [&](Rounds& rounds) {
    rounds.take_first_calls(compared, compared.variants[0], &PairedTimes::verdict, 6);
  });
  EXPECT_TRUE(compared.variants[0].item.is_regression);
  EXPECT_EQ(compared.variants[0].item.evidence, "a NaN");
  EXPECT_EQ(compared.variants[0].times.verdict.size(), 1U);
  base_.add_case(ScriptedBuild::listed_case(kCase), {bad});
  ComparedCase both = opened_case();
  with_rounds(1000, [&](Rounds& rounds) {
    rounds.take_first_calls(both, both.variants[0], &PairedTimes::verdict, 2);
  });
  EXPECT_TRUE(both.variants[0].is_open);
  EXPECT_EQ(both.variants[0].times.verdict.size(), 2U);
}

TEST_F(CheckRounds, AnOlderBuildTakesNoFirstCalls) {
  current_.add_case(kCase, always(110));
  base_.knows_first_calls = false;
  ComparedCase compared = opened_case();
  with_rounds(1000, [&](Rounds& rounds) {
    rounds.take_first_calls(compared, compared.variants[0], &PairedTimes::verdict, 6);
  });
  EXPECT_EQ(compared.variants[0].item.verdict, ChangeVerdict::incomparable);
  EXPECT_FALSE(compared.variants[0].is_open);
  EXPECT_TRUE(compared.variants[0].times.verdict.empty());
}

}  // namespace
}  // namespace opbench::check
