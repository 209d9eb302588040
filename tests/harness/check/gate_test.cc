// The check's rounds and verdicts on builds that answer from a script: every time is invented, so
// that each outcome follows from the numbers in its test.
#include "harness/check/gate.h"

#include <gmock/gmock.h>

#include <cmath>

#include "harness/check/report.h"
#include "tests/harness/check/scripted_build.h"

namespace opbench::check {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kCase = "relu[64]";

std::function<double(ScriptedSample)> always(double us) {
  return [us](ScriptedSample) { return us; };
}

class CheckGate : public testing::Test {
 protected:
  /// Compares both builds, with `threshold` and 600 invented seconds unless options say otherwise.
  Report run() {
    options.base = base.program();
    options.current = current.program();
    options.run.threads = {1};
    options.now_s = [this] { return clock_s; };
    return run_gate(options, {});
  }

  double clock_s = 0;
  std::string log;  ///< 'b' and 'c': whose sample was taken
  ScriptedBuild base{"base", clock_s, log}, current{"current", clock_s, log};
  GateOptions options;
};

Item only_item(const Report& report) {
  EXPECT_EQ(report.items.size(), 1u);
  return report.items.empty() ? Item{} : report.items.front();
}

}  // namespace

// 12 rounds of the noise, 12 of the screening, and nothing more: equal times settle it.
TEST_F(CheckGate, EqualBuildsAreTheSameAfterTheScreening) {
  base.add_case(kCase, always(100));
  current.add_case(kCase, always(100));
  const Report report = run();
  EXPECT_EQ(only_item(report).verdict, Verdict::same);
  EXPECT_EQ(report.exit_code(), kAllWell);
  EXPECT_EQ(outcome_text(report), "No regression");
  EXPECT_EQ(report.noise_floor, 0);
  EXPECT_EQ(base.samples(kCase, "v"), 12 + 12 + 12);
  EXPECT_EQ(current.samples(kCase, "v"), 12);
  EXPECT_EQ(current.processes(), 1);
}

// The noise's 24 samples are all of the other build; then the builds lead in turn.
TEST_F(CheckGate, RoundsAlternateInWhichBuildComesFirst) {
  base.add_case(kCase, always(100));
  current.add_case(kCase, always(100));
  run();
  EXPECT_EQ(log,
            "bbbbbbbbbbbbbbbbbbbbbbbb"
            "bccbbccbbccbbccbbccbbccb");
}

// +10 % in every round: 12 to screen, then 3 in each of ten fresh pairs of processes, twice.
TEST_F(CheckGate, ASlowerVariantIsConfirmedInFreshProcesses) {
  base.add_case(kCase, always(100));
  current.add_case(kCase, always(110));
  const Report report = run();
  const Item item = only_item(report);
  EXPECT_EQ(item.verdict, Verdict::slower);
  EXPECT_TRUE(item.is_regression);
  EXPECT_THAT(item.evidence, HasSubstr("slower in 60 of 60 rounds"));
  EXPECT_THAT(item.evidence, HasSubstr("+10.0% (99%: +10.0% to +10.0%)"));
  EXPECT_EQ(item.next, "opbench check --against base --case 'relu[64]' --variant v --threads 1");
  EXPECT_EQ(report.exit_code(), kVerdictFailed);
  EXPECT_EQ(current.samples(kCase, "v"), 12 + 30 + 30);
  EXPECT_EQ(current.processes(), 1 + 10 + 10);
  EXPECT_FALSE(current.opened().back().verify) << "once is enough";
  EXPECT_THAT(current.opened().back().variants, ElementsAre("v"));
}

TEST_F(CheckGate, AFasterVariantIsNoRegression) {
  base.add_case(kCase, always(100));
  current.add_case(kCase, always(80));
  const Report report = run();
  EXPECT_EQ(only_item(report).verdict, Verdict::faster);
  EXPECT_EQ(report.exit_code(), kAllWell);
}

// +-20 % in the first process leaves the screening open; the fresh ones agree.
TEST_F(CheckGate, WhatTheScreeningLeavesOpenIsDecidedByMoreRounds) {
  base.add_case(kCase, always(100));
  current.add_case(kCase, [](ScriptedSample s) {
    return s.process > 1 ? 100.0 : s.number % 2 == 0 ? 120.0 : 80.0;
  });
  const Report report = run();
  EXPECT_EQ(only_item(report).verdict, Verdict::same);
  EXPECT_EQ(report.exit_code(), kAllWell);
  EXPECT_EQ(current.samples(kCase, "v"), 12 + 30) << "no confirmation of what is the same";
}

// The screening is open, and three of the verdict's ten pairs of processes show +12 %. Were its 30
// rounds independent, that would be the same; of pairs, five of ten may be slow in one resample of
// seven. Ten more pairs without any make it three of twenty, and the same.
TEST_F(CheckGate, RoundsOfAPairOfProcessesDoNotSettleTheVerdictAsIndependentOnes) {
  base.add_case(kCase, always(100));
  current.add_case(kCase, [](ScriptedSample s) {
    if (s.process == 1) return s.number % 2 == 0 ? 120.0 : 80.0;
    return s.process <= 4 ? 112.0 : 100.0;
  });
  EXPECT_EQ(only_item(run()).verdict, Verdict::same);
  EXPECT_EQ(current.samples(kCase, "v"), 12 + 30 + 30);
}

// +20 % in the verdict's processes 2 to 11; of the ten that follow three show nothing. Together the
// median is above +10 %, but the confirmation alone does not exclude 0.
TEST_F(CheckGate, ASuspicionThatFreshProcessesDoNotShareIsAmbiguous) {
  base.add_case(kCase, always(100));
  current.add_case(kCase, [](ScriptedSample s) {
    return s.process <= 11 ? 120.0 : s.process <= 18 ? 110.0 : 100.0;
  });
  const Report report = run();
  EXPECT_EQ(only_item(report).verdict, Verdict::ambiguous);
  EXPECT_THAT(only_item(report).evidence, HasSubstr("not confirmed in fresh processes"));
  EXPECT_EQ(report.exit_code(), kAllWell);
}

// Of 20 pairs of processes 16 are slower: p = 2 (1 + 20 + 190 + 1140 + 4845) / 2^20 = 0.0118, which
// is times the number of variants at most 0.05 with four of them and not with five.
TEST_F(CheckGate, ManyComparisonsAskForMoreEvidence) {
  for (const int equal : {3, 4}) {
    ScriptedBuild old{"base", clock_s, log}, now{"current", clock_s, log};
    old.add_case(kCase, always(100));
    now.add_case(kCase, [](ScriptedSample s) {
      const bool is_faster = s.process == 3 || s.process == 4 || s.process == 5 || s.process == 12;
      return is_faster ? 99.0 : 110.0;
    });
    for (int i = 0; i < equal; ++i) {
      const std::string id = "equal[" + std::to_string(i) + "]";
      old.add_case(id, always(100));
      now.add_case(id, always(100));
    }
    options.base = old.program();
    options.current = now.program();
    options.run.threads = {1};
    options.now_s = [this] { return clock_s; };
    const Report report = run_gate(options, {});
    EXPECT_EQ(report.items.size(), 1u + equal);
    EXPECT_EQ(report.count(Verdict::slower), equal == 3 ? 1 : 0);
    EXPECT_EQ(report.count(Verdict::ambiguous), equal == 3 ? 0 : 1);
  }
}

// The other build against itself: log-ratios of +-r, so that their median deviation is r, and
// 3 x 1.2533 x 1.4826 r / sqrt(30) = 1.0178 r. For a floor of 7 % r = log(1.07) / 1.0178.
TEST_F(CheckGate, TheNoiseOfTheMachineRaisesTheThreshold) {
  const double r = std::log(1.07) / 1.0178;
  base.add_case(kCase, [r](ScriptedSample s) {
    return s.process == 2 ? 100 * std::exp(s.number % 2 == 0 ? r : -r) : 100;
  });
  current.add_case(kCase, always(106));
  const Report report = run();
  EXPECT_NEAR(report.noise_floor, 0.07, 1e-4);
  EXPECT_EQ(only_item(report).verdict, Verdict::same);
  EXPECT_NEAR(only_item(report).threshold, 0.07, 1e-4);
}

// Without that noise the same 6 % are a regression.
TEST_F(CheckGate, AQuietMachineShowsSixPercent) {
  base.add_case(kCase, always(100));
  current.add_case(kCase, always(106));
  EXPECT_EQ(only_item(run()).verdict, Verdict::slower);
}

// A floor of expm1(1.0178 x 0.3) = 36 % hides what matters. It is measured three times, and only
// accuracy is judged.
TEST_F(CheckGate, ATooNoisyMachineJudgesAccuracyOnly) {
  base.add_case(kCase, [](ScriptedSample s) {
    return s.process == 2 ? 100 * std::exp(s.number % 2 == 0 ? 0.3 : -0.3) : 100;
  });
  current.add_case(kCase, always(300));
  const Report report = run();
  EXPECT_NEAR(report.noise_floor, std::expm1(1.0178 * 0.3), 1e-4);
  EXPECT_EQ(report.exit_code(), kTooNoisy);
  EXPECT_EQ(base.samples(kCase, "v"), 3 * 24);
  EXPECT_EQ(current.samples(kCase, "v"), 0);
  EXPECT_EQ(only_item(report).evidence, "accuracy is well; its speed was not judged");
}

// Noise takes 2 x 0.1 s and 24 x 0.02 s, a screening as much: 0.68 s each.
TEST_F(CheckGate, WhatTheBudgetDoesNotReachIsUnfinished) {
  for (const char* id : {"a[1]", "b[1]"}) {
    base.add_case(id, always(100));
    current.add_case(id, always(100));
  }
  options.budget_s = 2 * 0.68 + 0.5;  // the noise looks at both cases
  const Report report = run();
  ASSERT_EQ(report.items.size(), 2u);
  EXPECT_EQ(report.items[0].case_id, "a[1]");
  EXPECT_EQ(report.items[0].evidence, "not measured: the budget ended");
  EXPECT_EQ(current.samples("a[1]", "v"), 8) << "0.2 s to open, 0.3 s are 7.5 rounds";
  EXPECT_FALSE(report.items[0].speed) << "part of a screening is none";
  EXPECT_EQ(report.items[1].evidence, "not measured: the budget ended before its turn");
  EXPECT_EQ(report.exit_code(), kCouldNotFinish);
}

// Enough for the noise, the screening and the verdict (10 pairs of 0.2 s and 3 rounds), not more.
TEST_F(CheckGate, ABudgetThatEndsBeforeTheConfirmationLeavesItAmbiguous) {
  base.add_case(kCase, always(100));
  current.add_case(kCase, always(110));
  options.budget_s = 2 * 0.68 + 10 * (0.2 + 3 * 0.04) - 0.01;
  const Report report = run();
  EXPECT_EQ(only_item(report).verdict, Verdict::ambiguous);
  EXPECT_EQ(only_item(report).speed->rounds, 30);
  EXPECT_THAT(only_item(report).evidence,
              HasSubstr("the budget ended before it could be confirmed"));
  EXPECT_EQ(report.exit_code(), kCouldNotFinish) << "what was not reached is no success";
  EXPECT_EQ(outcome_text(report), "COULD NOT FINISH");
  EXPECT_THAT(report.notices,
              ElementsAre("the budget of 4.55 s ended with 1 of 1 undecided, 1 of them slower so "
                          "far; --budget gives more time"));
}

// Noise and the screening of all three take 3 x 0.68 s each; opening the first that is left
// for its verdict ends the budget.
TEST_F(CheckGate, NoVariantThatTheBudgetLeftIsASuccess) {
  for (const char* id : {"a[1]", "b[1]", "same[1]"}) {
    base.add_case(id, always(100));
    current.add_case(id, always(std::string(id) == "same[1]" ? 100 : 111));
  }
  options.budget_s = 2 * 3 * 0.68 + 0.1;
  const Report report = run();
  EXPECT_EQ(report.count(Verdict::ambiguous), 2);
  EXPECT_EQ(report.count(Verdict::same), 1);
  EXPECT_EQ(report.exit_code(), kCouldNotFinish);
  for (const Item& item : report.items) {
    if (item.verdict == Verdict::same) continue;
    EXPECT_TRUE(item.is_unfinished) << item.evidence;
    EXPECT_THAT(item.evidence, HasSubstr("slower in 12 of 12 rounds; the budget ended"));
  }
}

// +-20 % in the first process only: what is the same after 30 rounds has no word of a budget.
TEST_F(CheckGate, ThirtyRoundsWithoutAChangeNeedNoMore) {
  base.add_case(kCase, always(100));
  current.add_case(kCase, [](ScriptedSample s) {
    return s.process > 1 ? 100.0 : s.number % 2 == 0 ? 120.0 : 80.0;
  });
  EXPECT_THAT(only_item(run()).evidence, testing::Not(HasSubstr("budget")));
}

// It is started again, nothing fails any more, and the report says why the noise is of one case
// less.
TEST_F(CheckGate, AWorkerThatIsLostWhileNoiseIsMeasuredIsSaid) {
  base.add_case(kCase, [](ScriptedSample s) -> double {
    if (s.process == 1 && s.number == 3) throw ChildLost("was ended by signal 9");
    return 100;
  });
  current.add_case(kCase, always(100));
  const Report report = run();
  EXPECT_EQ(only_item(report).verdict, Verdict::same);
  EXPECT_THAT(report.notices, ElementsAre("a worker was lost while noise was measured with "
                                          "relu[64]: was ended by signal 9"));
}

// The first of two variants hangs in its sixth sample: the second goes on in a new process.
TEST_F(CheckGate, AHungVariantCostsItselfOnly) {
  const auto hangs = [](ScriptedSample s) -> double {
    if (s.number == 5) throw ChildLost("no answer within 5 s");
    return 100;
  };
  const ListedCase listed = ScriptedBuild::listed_case(kCase);
  base.add_case(listed, {ScriptedBuild::passing("first", always(100)),
                         ScriptedBuild::passing("second", always(100))});
  current.add_case(listed, {ScriptedBuild::passing("first", hangs),
                            ScriptedBuild::passing("second", always(100))});
  const Report report = run();
  ASSERT_EQ(report.items.size(), 2u);
  EXPECT_EQ(report.items[0].variant, "first");
  EXPECT_EQ(report.items[0].verdict, Verdict::error);
  EXPECT_EQ(report.items[0].evidence, "no answer within 5 s");
  EXPECT_FALSE(report.items[0].is_regression) << "may be the machine";
  EXPECT_EQ(report.items[1].verdict, Verdict::same);
  EXPECT_EQ(current.processes(), 2);
  EXPECT_THAT(current.opened().back().variants, ElementsAre("second"));
  EXPECT_EQ(report.exit_code(), kCouldNotFinish);
}

TEST_F(CheckGate, ACrashInAFreshProcessCostsTheCaseAndNoOther) {
  base.add_case("a[1]", always(100));
  base.add_case("b[1]", always(100));
  current.add_case("a[1]", [](ScriptedSample s) -> double {
    if (s.process > 3) throw ChildLost("was ended by signal 11");
    return 120;
  });
  current.add_case("b[1]", always(100));
  const Report report = run();
  ASSERT_EQ(report.items.size(), 2u);
  EXPECT_EQ(report.items[0].verdict, Verdict::error);
  EXPECT_EQ(report.items[0].evidence, "was ended by signal 11");
  EXPECT_EQ(report.items[1].verdict, Verdict::same);
}

// What a worker says of itself is no loss of the worker: this build fails now.
TEST_F(CheckGate, AVariantThatCannotBeTimedAnyMoreIsARegression) {
  base.add_case(kCase, always(100));
  current.add_case(kCase, [](ScriptedSample) -> double { throw Error("threw"); });
  const Report report = run();
  EXPECT_EQ(only_item(report).verdict, Verdict::error);
  EXPECT_TRUE(only_item(report).is_regression);
  EXPECT_EQ(report.exit_code(), kVerdictFailed);
}

TEST_F(CheckGate, LostAccuracyIsARegressionThatIsNotTimed) {
  const ListedCase listed = ScriptedBuild::listed_case(kCase);
  ScriptedVariant worse = ScriptedBuild::passing("v", always(50));
  worse.opened.accuracy->max_ulp = 4.5;  // 1.5 x 2 + 1 = 4 are allowed
  base.add_case(kCase, always(100));
  current.add_case(listed, {worse});
  const Report report = run();
  EXPECT_EQ(only_item(report).verdict, Verdict::error);
  EXPECT_TRUE(only_item(report).is_regression);
  EXPECT_THAT(only_item(report).evidence, HasSubstr("from 2 to 4.5 ULP"));
  EXPECT_EQ(current.samples(kCase, "v"), 0);
}

TEST_F(CheckGate, NewGoneAndIncomparableVariants) {
  const ListedCase listed = ScriptedBuild::listed_case(kCase);
  const auto with_status = [](const char* variant, Status status) {
    return ScriptedVariant{{variant, status, "why", {}}, always(1)};
  };
  base.add_case(
      listed,
      {ScriptedBuild::passing("both", always(100)), ScriptedBuild::passing("gone", always(100)),
       with_status("wrong", Status::failed), with_status("refused", Status::skipped)});
  current.add_case(
      listed,
      {ScriptedBuild::passing("both", always(100)), ScriptedBuild::passing("new", always(100)),
       with_status("wrong", Status::failed), with_status("refused", Status::skipped)});
  const Report report = run();
  std::map<std::string, Verdict> verdicts;
  for (const Item& item : report.items) verdicts[item.variant] = item.verdict;
  EXPECT_EQ(verdicts, (std::map<std::string, Verdict>{{"both", Verdict::same},
                                                      {"gone", Verdict::gone},
                                                      {"new", Verdict::new_},
                                                      {"wrong", Verdict::incomparable}}));
  EXPECT_EQ(report.exit_code(), kVerdictFailed) << "one is gone";
}

TEST_F(CheckGate, CasesThatOnlyOneBuildHas) {
  base.add_case("old[1]", always(100));
  current.add_case("new[1]", always(100));
  const Report report = run();
  ASSERT_EQ(report.items.size(), 2u);
  EXPECT_EQ(report.items[0].case_id, "old[1]");
  EXPECT_EQ(report.items[0].verdict, Verdict::gone);
  EXPECT_TRUE(report.items[0].is_regression);
  EXPECT_EQ(report.items[1].case_id, "new[1]");
  EXPECT_EQ(report.items[1].verdict, Verdict::new_);
}

// An older build that cannot read the selection is asked for each case.
TEST_F(CheckGate, ABuildThatCannotReadTheSelectionIsAskedCaseByCase) {
  base.add_case("known[1]", always(100));
  base.list_error = "unknown operator 'new'";
  current.add_case("known[1]", always(100));
  current.add_case("new[1]", always(100));
  const Report report = run();
  ASSERT_EQ(report.items.size(), 2u);
  EXPECT_EQ(report.items[0].verdict, Verdict::new_);
  EXPECT_EQ(report.items[1].verdict, Verdict::same);
  EXPECT_THAT(report.notices, ElementsAre(StartsWith("the other build cannot read the selection "
                                                     "(unknown operator 'new')")));
}

TEST_F(CheckGate, AThresholdOfACaseOverridesTheRule) {
  ListedCase tolerant = ScriptedBuild::listed_case(kCase);
  tolerant.threshold = 0.2;
  for (ScriptedBuild* build : {&base, &current}) {
    build->add_case(tolerant, {ScriptedBuild::passing("v", always(build == &base ? 100 : 110))});
  }
  EXPECT_EQ(only_item(run()).verdict, Verdict::same);
}

// Steps beside a case: one is the same, one slower, one converts more, one is new, one gone, and
// one is skipped in both. Each is in the report.
TEST_F(CheckGate, StepsOfAContextAreJudgedOneByOne) {
  ListedCase listed = ScriptedBuild::listed_case("unit[fp32]");
  listed.context = ContextSource{"c.yaml", "unit", DType::fp32, {}};
  const auto step = [](const char* name, double us, int trans_data) {
    ScriptedVariant result = ScriptedBuild::passing(name, always(us));
    result.opened.conversions = Conversions{trans_data, 1024.0 * trans_data, 0, 0};
    return result;
  };
  const ScriptedVariant skipped{{"skipped", Status::skipped, "on a device only", {}}, always(1)};
  listed.variants = {"same", "slower", "more", "gone", "skipped"};
  base.add_case(listed, {step("same", 100, 2), step("slower", 100, 2), step("more", 100, 2),
                         step("gone", 100, 2), skipped});
  listed.variants = {"same", "slower", "more", "new", "skipped"};
  current.add_case(listed, {step("same", 100, 2), step("slower", 120, 2), step("more", 50, 3),
                            step("new", 100, 2), skipped});
  base.add_case(kCase, always(100));
  current.add_case(kCase, always(100));
  const Report report = run();
  std::map<std::string, const Item*> items;
  for (const Item& item : report.items) items[item.variant] = &item;
  ASSERT_EQ(items.size(), 7u);
  EXPECT_EQ(items["v"]->verdict, Verdict::same);
  EXPECT_EQ(items["same"]->verdict, Verdict::same);
  EXPECT_EQ(items["slower"]->verdict, Verdict::slower);
  EXPECT_THAT(items["slower"]->evidence, HasSubstr(" per sample, slower in 60 of 60 rounds"));
  EXPECT_EQ(items["more"]->verdict, Verdict::error);
  EXPECT_TRUE(items["more"]->is_regression) << "although it is faster";
  EXPECT_EQ(items["new"]->verdict, Verdict::new_);
  EXPECT_EQ(items["gone"]->verdict, Verdict::gone);
  EXPECT_EQ(items["skipped"]->verdict, Verdict::incomparable);
  EXPECT_EQ(items["skipped"]->evidence, "skipped: on a device only");
  EXPECT_EQ(title_of(*items["same"]), "step same of unit[fp32], 1 thread");
  EXPECT_EQ(current.samples("unit[fp32]", "more"), 0) << "conversions need no statistics";
  EXPECT_EQ(report.exit_code(), kVerdictFailed);
}

// All steps are refused: nothing was judged, and that is no success.
TEST_F(CheckGate, AContextWithoutAStepThatRunsIsNothingToJudge) {
  ListedCase listed = ScriptedBuild::listed_case("unit[fp32]");
  listed.context = ContextSource{"c.yaml", "unit", DType::fp32, {}};
  const ScriptedVariant skipped{{"only", Status::skipped, "on a device only", {}}, always(1)};
  base.add_case(listed, {skipped});
  current.add_case(listed, {skipped});
  const Report report = run();
  EXPECT_EQ(only_item(report).verdict, Verdict::incomparable);
  EXPECT_EQ(report.exit_code(), kNothingToJudge);
}

// 20 % of one step; the case beside it does not dilute it.
TEST_F(CheckGate, ASlowerStepCostsItsOwnShare) {
  ListedCase listed = ScriptedBuild::listed_case("unit[fp32]");
  listed.context = ContextSource{"c.yaml", "unit", DType::fp32, {}};
  base.add_case(listed, {ScriptedBuild::passing("s", always(100))});
  current.add_case(listed, {ScriptedBuild::passing("s", always(120))});
  base.add_case(kCase, always(1e6));
  current.add_case(kCase, always(1e6));
  options.fail_over_percent = 19;
  const Report report = run();
  EXPECT_NEAR(report.slower_percent(), 20, 1e-9);
  EXPECT_EQ(report.exit_code(), kVerdictFailed);
}

TEST_F(CheckGate, SlowerCasesTogetherDecideWhereAsked) {
  base.add_case(kCase, always(100));
  current.add_case(kCase, always(110));
  options.fail_over_percent = 20;  // the case is the whole step: it costs 10 %
  const Report report = run();
  EXPECT_EQ(only_item(report).verdict, Verdict::slower);
  EXPECT_EQ(report.exit_code(), kAllWell);
  options.fail_over_percent = 5;
  EXPECT_EQ(run().exit_code(), kVerdictFailed);
}

TEST_F(CheckGate, BuildsMadeDifferentlyAreNoted) {
  base.hello.build.flags = "-O2";
  base.add_case(kCase, always(100));
  current.add_case(kCase, always(100));
  EXPECT_THAT(run().notices, ElementsAre(HasSubstr("c, Release, -O2 against c, Release, f")));
}

TEST_F(CheckGate, AnotherProtocolIsRefusedWithBothVersions) {
  base.hello.protocol = base.hello.oldest = kProtocolVersion + 1;
  EXPECT_THAT([&] { run(); }, testing::ThrowsMessage<Error>(HasSubstr("of the protocol")));
}

}  // namespace opbench::check
