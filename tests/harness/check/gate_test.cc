// Rounds and verdicts of the check, on builds that answer from a script. All times are invented, so
// that each outcome follows from the numbers in its test.
#include "harness/check/gate.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "harness/check/report.h"
#include "harness/check/waivers.h"
#include "tests/harness/check/scripted_build.h"

namespace opbench::check {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class CheckGate : public testing::Test {
 protected:
  /// Compares both builds, with `threshold` and 600 invented seconds unless the options differ.
  CheckReport run() {
    options.base = base.program();
    options.current = current.program();
    options.run.threads = {1};
    options.now_s = [this] { return clock_s; };
    return run_gate(options, {});
  }

  double clock_s = 0;
  std::string log;  ///< 'b' and 'c': build of each sample
  ScriptedBuild base{"base", clock_s, log}, current{"current", clock_s, log};
  GateOptions options;
};

ScriptedVariant with_bits(double us, const std::string& bits) {
  ScriptedVariant variant = ScriptedBuild::passing("v", always(us));
  variant.opened.bits = bits;
  return variant;
}

CheckedItem only_item(const CheckReport& report) {
  EXPECT_EQ(report.items.size(), 1u);
  return report.items.empty() ? CheckedItem{} : report.items.front();
}

}  // namespace

// 12 rounds of screening; equal times settle it.
TEST_F(CheckGate, EqualBuildsAreTheSameAfterTheScreening) {
  base.add_case(kCase, always(100));
  current.add_case(kCase, always(100));
  const CheckReport report = run();
  EXPECT_EQ(only_item(report).verdict, ChangeVerdict::same);
  EXPECT_EQ(report.exit_code(), kAllWell);
  EXPECT_EQ(outcome_text(report), "No regression");
  EXPECT_EQ(report.noise_floor, 0);
  EXPECT_EQ(base.samples(kCase, "v"), 12);
  EXPECT_EQ(current.samples(kCase, "v"), 12);
  EXPECT_EQ(current.processes(), 6) << "two rounds in each";
}

TEST_F(CheckGate, RoundsAlternateInWhichBuildComesFirst) {
  base.add_case(kCase, always(100));
  current.add_case(kCase, always(100));
  run();
  EXPECT_EQ(log, "bccbbccbbccbbccbbccbbccb");
}

// +10 % in every round: 12 rounds of screening, then 3 in each of ten new pairs of processes,
// twice, with a third process of the baseline (A/A control).
TEST_F(CheckGate, ASlowerVariantIsConfirmedInFreshProcesses) {
  base.add_case(kCase, always(100));
  current.add_case(kCase, always(110));
  const CheckReport report = run();
  const CheckedItem item = only_item(report);
  EXPECT_EQ(item.verdict, ChangeVerdict::slower);
  EXPECT_TRUE(item.is_regression);
  EXPECT_THAT(item.evidence, HasSubstr("slower in 60 of 60 rounds"));
  EXPECT_THAT(item.evidence, HasSubstr("+10.0% (99%: +10.0% to +10.0%)"));
  EXPECT_EQ(item.next, "opbench check --against base --case 'relu[64]' --variant v --threads 1");
  EXPECT_EQ(report.exit_code(), kVerdictFailed);
  EXPECT_EQ(current.samples(kCase, "v"), 12 + 30 + 30);
  EXPECT_EQ(current.processes(), 6 + 10 + 10);
  EXPECT_EQ(base.samples(kCase, "v"), 12 + 2 * 30 + 2 * 30);
  EXPECT_FALSE(current.opened().back().verify) << "once is enough";
  EXPECT_THAT(current.opened().back().variants, ElementsAre("v"));
}

// One sample of the current build, for its weight in the network.
TEST_F(CheckGate, TheSameMachineCodeIsTheSameAndIsNotTimed) {
  base.add_case(kCase, always(100));
  current.add_case(kCase, always(110));
  base.add_case("other[1]", always(100));
  current.add_case(ScriptedBuild::listed_case("other[1]"), {with_bits(110, "01")});
  base.code = current.code = "00ff";
  const CheckReport report = run();
  ASSERT_EQ(report.items.size(), 2u);
  const CheckedItem &other = report.items[0], &same = report.items[1];
  EXPECT_EQ(same.verdict, ChangeVerdict::same);
  EXPECT_TRUE(same.is_same_code);
  EXPECT_FALSE(same.speed.has_value());
  EXPECT_THAT(same.evidence, HasSubstr("both builds run the same machine code here"));
  EXPECT_EQ(base.samples(kCase, "v"), 0);
  EXPECT_EQ(current.samples(kCase, "v"), 1);
  EXPECT_THAT(report.notices, Contains(HasSubstr("1 of 2 run the same machine code")));
  EXPECT_EQ(other.verdict, ChangeVerdict::slower) << "it left other bits";
  EXPECT_NEAR(*other.network_percent, 100 * 10 / 210.0, 1e-9) << "of both";
}

// The results of a timed call differ from the verified results, although the code is equal.
TEST_F(CheckGate, TheSameMachineCodeWithWrongCallsIsTimed) {
  ScriptedVariant right = ScriptedBuild::passing("v", always(100));
  right.opened.results = "01";
  ScriptedVariant wrong = right;
  wrong.results = [](ScriptedSample) { return "02"; };
  base.add_case(ScriptedBuild::listed_case(kCase), {right});
  current.add_case(ScriptedBuild::listed_case(kCase), {wrong});
  base.code = current.code = "00ff";
  EXPECT_EQ(only_item(run()).verdict, ChangeVerdict::error);
}

// Without verification the inputs are unknown. Different code has no notice.
TEST_F(CheckGate, UnverifiedMachineCodeStaysARegression) {
  base.add_case(ScriptedBuild::listed_case(kCase), {with_bits(100, "")});
  current.add_case(ScriptedBuild::listed_case(kCase), {with_bits(110, "")});
  base.code = current.code = "00ff";
  const CheckReport same = run();
  EXPECT_EQ(only_item(same).verdict, ChangeVerdict::slower);
  EXPECT_THAT(only_item(same).notices, Contains(HasSubstr("without verification it is unknown")));
}

TEST_F(CheckGate, OtherMachineCodeStaysARegression) {
  base.add_case(kCase, always(100));
  current.add_case(kCase, always(110));
  base.code = "00fe";
  current.code = "00ff";
  const CheckReport report = run();
  EXPECT_EQ(only_item(report).verdict, ChangeVerdict::slower);
  EXPECT_THAT(only_item(report).notices, IsEmpty());
  EXPECT_EQ(report.exit_code(), kVerdictFailed);
}

TEST_F(CheckGate, WhereTheMachineCodeIsNotKnownItStaysARegression) {
  base.add_case(kCase, always(100));
  current.add_case(kCase, always(110));
  current.code = "00ff";  // the baseline is older
  const CheckReport report = run();
  EXPECT_EQ(only_item(report).verdict, ChangeVerdict::slower);
  EXPECT_THAT(only_item(report).notices,
              ElementsAre(HasSubstr("changed: the baseline cannot report it (unknown request")));
  EXPECT_EQ(report.exit_code(), kVerdictFailed);
}

TEST_F(CheckGate, AFasterVariantIsNoRegression) {
  base.add_case(kCase, always(100));
  current.add_case(kCase, always(80));
  const CheckReport report = run();
  EXPECT_EQ(only_item(report).verdict, ChangeVerdict::faster);
  EXPECT_EQ(report.exit_code(), kAllWell);
}

// +-20 % in the first six processes leave the screening undecided; the later ones agree.
TEST_F(CheckGate, WhatTheScreeningLeavesOpenIsDecidedByMoreRounds) {
  base.add_case(kCase, always(100));
  current.add_case(kCase, [](ScriptedSample s) {
    return s.process > 6 ? 100.0 : s.number % 2 == 0 ? 120.0 : 80.0;
  });
  const CheckReport report = run();
  EXPECT_EQ(only_item(report).verdict, ChangeVerdict::same);
  EXPECT_EQ(report.exit_code(), kAllWell);
  EXPECT_EQ(current.samples(kCase, "v"), 12 + 30) << "no confirmation of what is the same";
}

// All processes of a round have the same layout; every round has another one.
TEST_F(CheckGate, BothBuildsPlaceTheirTensorsAlikeInEveryRound) {
  base.add_case(kCase, always(100));
  current.add_case(kCase, always(110));
  run();
  const std::vector<std::uint64_t>& layouts = current.layouts();
  ASSERT_EQ(layouts.size(), 12u + 30 + 30);
  EXPECT_EQ(std::set(layouts.begin(), layouts.end()).size(), layouts.size());
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    EXPECT_NE(layouts[i], 0u);
    // The third process repeats it if it runs.
    const int processes = i < 12 ? 1 : 2;
    EXPECT_EQ(std::count(base.layouts().begin(), base.layouts().end(), layouts[i]), processes) << i;
  }
  // Tensors that are too large to be moved have another layout in each pair of processes.
  std::vector<std::uint64_t> of_base, of_current;
  for (const OpenRequest& request : current.opened()) of_current.push_back(request.layout);
  for (const OpenRequest& request : base.opened()) of_base.push_back(request.layout);
  std::sort(of_current.begin(), of_current.end());
  for (std::size_t i = 1; i < of_current.size(); ++i) EXPECT_LT(of_current[i - 1], of_current[i]);
  for (const std::uint64_t layout : of_current) EXPECT_THAT(of_base, Contains(layout));
}

// If opening takes longer than a second, there are three pairs of processes, with 2, 5 and 5
// rounds.
TEST_F(CheckGate, WhatOpensSlowlyIsScreenedInFewerProcesses) {
  for (ScriptedBuild* build : {&base, &current}) {
    build->open_seconds = 0.6;
    build->add_case(kCase, always(100));
  }
  EXPECT_EQ(only_item(run()).verdict, ChangeVerdict::same);
  EXPECT_EQ(current.processes(), 3);
  EXPECT_EQ(current.samples(kCase, "v"), 12);
}

// A failure of the baseline is neither a regression nor a success.
TEST_F(CheckGate, AnErrorOfTheOtherBuildsSamplesIsNoRegression) {
  base.add_case(kCase, [](ScriptedSample s) -> double {
    if (s.process > 3) throw Error("a timed call left [0] of 'y' unwritten");
    return 100;
  });
  current.add_case(kCase, always(100));
  const CheckReport report = run();
  const CheckedItem item = only_item(report);
  EXPECT_EQ(item.verdict, ChangeVerdict::error);
  EXPECT_FALSE(item.is_regression);
  EXPECT_THAT(item.evidence, StartsWith("in the baseline: a timed call left"));
  EXPECT_EQ(report.exit_code(), kCouldNotFinish);
}

// The program has answered before, so this is a fault of a worker, such as out of memory.
TEST_F(CheckGate, AWorkerThatDoesNotStartCostsItsCaseAndNotTheCheck) {
  base.add_case(kCase, always(100));
  current.add_case(kCase, always(100));
  base.add_case("relu[65]", always(100));
  current.add_case("relu[65]", always(100));
  options.base = base.program();
  options.current = current.program();
  options.run.threads = {1};
  options.now_s = [this] { return clock_s; };
  int starts = 0;
  options.base.connect = [&starts, connect = options.base.connect] {
    if (++starts == 11) throw RunError("cannot start a process: no memory");
    return connect();
  };
  const CheckReport report = run_gate(options, {});
  EXPECT_GE(starts, 11);
  EXPECT_EQ(report.items.size(), 2u);
  EXPECT_EQ(report.count(ChangeVerdict::same), 1);
  EXPECT_EQ(report.exit_code(), kCouldNotFinish);
}

// A case that only one build has does not move other cases to other parts.
TEST_F(CheckGate, APartIsOneOfAllThatBothHave) {
  for (const char* id : {"relu[1]", "relu[2]", "relu[3]"}) current.add_case(id, always(100));
  for (const char* id : {"relu[2]", "relu[3]", "relu[4]"}) base.add_case(id, always(100));
  std::vector<std::string> seen;
  for (const int index : {1, 2}) {
    options.run.selection.part = {index, 2};
    for (const CheckedItem& item : run().items) {
      seen.push_back(fmt::format("{} {} {}", index, name(item.verdict), item.case_id));
    }
  }
  EXPECT_THAT(seen, testing::UnorderedElementsAre("1 NEW relu[1]", "1 SAME relu[3]",
                                                  "2 SAME relu[2]", "2 GONE relu[4]"));
}

// Three of ten processes take 1.5 times as long, which does not move their median. The slower pairs
// are counted. The baseline's processes are equal.
TEST_F(CheckGate, ASlowdownOfThreeProcessesInTenIsFound) {
  base.add_case(kCase, always(100));
  current.add_case(kCase, [](ScriptedSample s) { return s.process % 10 < 3 ? 150.0 : 100.0; });
  const CheckReport report = run();
  const CheckedItem item = only_item(report);
  EXPECT_EQ(item.verdict, ChangeVerdict::slower);
  EXPECT_THAT(item.evidence, HasSubstr("pairs of processes slower than most by 5%, 0 faster"));
  EXPECT_EQ(report.exit_code(), kVerdictFailed);
}

// +20 % in the processes of the verdict, and in every second process of the confirmation. It is not
// confirmed, and more pairs decide that nothing is slower.
TEST_F(CheckGate, ASuspicionThatFreshProcessesDoNotShareGetsMoreRounds) {
  base.add_case(kCase, always(100));
  current.add_case(kCase, [](ScriptedSample s) { return s.process <= 16 ? 120.0 : 100.0; });
  const CheckReport report = run();
  EXPECT_EQ(only_item(report).verdict, ChangeVerdict::same) << only_item(report).evidence;
  EXPECT_GT(current.samples(kCase, "v"), 12 + 30 + 30);
}

// Processes are 30 % slower and 10 % faster in turn. The median between them is above the
// threshold, and no number of rounds makes it significant. The budget ends, and the result is not a
// success.
TEST_F(CheckGate, WhatNoNumberOfRoundsTellsFromNoChangeIsTooNoisy) {
  base.add_case(kCase, always(100));
  current.add_case(kCase, [](ScriptedSample s) { return s.process % 2 == 0 ? 130.0 : 90.0; });
  options.budget_s = 60;
  const CheckReport report = run();
  EXPECT_EQ(only_item(report).verdict, ChangeVerdict::ambiguous);
  EXPECT_THAT(only_item(report).evidence, HasSubstr("its 99% interval includes 0"));
  EXPECT_TRUE(only_item(report).is_too_noisy);
  EXPECT_EQ(report.exit_code(), kTooNoisy);
  EXPECT_EQ(outcome_text(report), "TOO NOISY");
  EXPECT_THAT(reason_text(report),
              StartsWith("nothing looks slower, but noise may hide a slowdown of 1 of 1; "));
  EXPECT_GT(current.samples(kCase, "v"), 12 + 30 + 30 + 30) << "all of the budget was used";
}

// 16 of 20 pairs of processes are slower: p = 2 (1 + 20 + 190 + 1140 + 4845) / 2^20 = 0.0118.
// Multiplied by the number of variants it is at most 0.05 for four of them. With five, more rounds
// decide.
TEST_F(CheckGate, ManyComparisonsAskForMoreEvidence) {
  for (const int equal : {3, 4}) {
    ScriptedBuild old{"base", clock_s, log}, now{"current", clock_s, log};
    old.add_case(kCase, always(100));
    now.add_case(kCase, [](ScriptedSample s) {
      const int of_verdict = s.process - 6;
      return of_verdict == 1 || of_verdict == 2 || of_verdict == 3 || of_verdict == 11 ? 99.0
                                                                                       : 110.0;
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
    const CheckReport report = run_gate(options, {});
    EXPECT_EQ(report.items.size(), 1u + equal);
    EXPECT_EQ(report.count(ChangeVerdict::slower), 1);
    EXPECT_EQ(now.samples(kCase, "v"), 12 + 30 + 30 + (equal == 3 ? 0 : 30));
  }
}

// Every second process of the baseline is 12 % slower than the one before. With this A/A noise 6 %
// are not significant, for this case only.
TEST_F(CheckGate, WhatEqualCodeShowsCountsForItsCaseOnly) {
  options.budget_s = 60;
  base.add_case("noisy[1]", [](ScriptedSample s) { return s.process % 2 == 0 ? 112.0 : 100.0; });
  base.add_case("quiet[1]", always(100));
  current.add_case("noisy[1]", always(106));
  current.add_case("quiet[1]", always(106));
  const CheckReport report = run();
  ASSERT_EQ(report.items.size(), 2u);
  for (const CheckedItem& item : report.items) {
    const bool is_quiet = item.case_id == "quiet[1]";
    EXPECT_EQ(item.verdict, is_quiet ? ChangeVerdict::slower : ChangeVerdict::ambiguous)
        << item.evidence;
    EXPECT_NEAR(item.noise.value(), is_quiet ? 0 : 0.12, 1e-9);
    if (is_quiet) continue;
    EXPECT_THAT(item.evidence, HasSubstr("below the A/A noise of 12%"));
  }
}

// Without that noise a difference of 6 % is a regression.
TEST_F(CheckGate, AQuietMachineShowsSixPercent) {
  base.add_case(kCase, always(100));
  current.add_case(kCase, always(106));
  EXPECT_EQ(only_item(run()).verdict, ChangeVerdict::slower);
}

// Three standard errors of the median of ten pairs with deviations of 0.3: expm1(3 x 1.2533 x
// 1.4826 x 0.3 / sqrt(10)). More rounds of unsuspected variants would not help.
TEST_F(CheckGate, WhereNoiseHidesAllNothingMoreIsMeasured) {
  base.add_case(kCase, always(100));
  current.add_case(kCase, noisy(100));
  const CheckReport report = run();
  EXPECT_NEAR(*report.noise_floor, std::expm1(3 * 1.2533 * 1.4826 * 0.3 / std::sqrt(10.0)), 1e-4);
  EXPECT_NEAR(*only_item(report).noise, *report.noise_floor, 1e-9);
  EXPECT_EQ(only_item(report).verdict, ChangeVerdict::ambiguous);
  EXPECT_EQ(report.exit_code(), kTooNoisy);
  EXPECT_EQ(current.samples(kCase, "v"), 12);
}

TEST_F(CheckGate, InTheSameNoiseALargeSlowdownIsFound) {
  base.add_case(kCase, always(100));
  current.add_case(kCase, noisy(300));
  const CheckReport report = run();
  EXPECT_EQ(only_item(report).verdict, ChangeVerdict::slower) << only_item(report).evidence;
  EXPECT_EQ(report.exit_code(), kVerdictFailed);
}

// The two medians are not from the round of the median ratio. The line would state 10 -> 9 as 10 %
// slower.
TEST_F(CheckGate, TheTimesShownChangeAsMuchAsTheChangeShown) {
  base.add_case(kCase, [](ScriptedSample s) { return s.process % 3 == 0 ? 5.0 : 10.0; });
  current.add_case(kCase, [](ScriptedSample s) {
    return s.process % 3 == 0 ? 5.5 : s.process % 3 == 1 ? 11.0 : 9.0;
  });
  options.budget_s = 20;
  const SpeedChange speed = only_item(run()).speed.value();
  EXPECT_NEAR(speed.current_us / speed.base_us, 1 + speed.change, 1e-9);
}

// The baseline crashes after its last answer, in every process.
TEST_F(CheckGate, AWorkerThatDoesNotEndWellIsNoSuccess) {
  base.add_case(kCase, always(100));
  current.add_case(kCase, always(100));
  base.end = "'base' was ended by signal 11";
  const CheckReport report = run();
  EXPECT_EQ(only_item(report).verdict, ChangeVerdict::same);
  EXPECT_THAT(report.failures, ElementsAre("'base' was ended by signal 11"));
  EXPECT_EQ(report.exit_code(), kCouldNotFinish);
  EXPECT_EQ(reason_text(report), "'base' was ended by signal 11");
}

// A sample arrives after 20 ms.
TEST_F(CheckGate, ATimeLongerThanItsAnswerTookIsRefused) {
  base.add_case(kCase, always(20001 * 1.02));
  current.add_case(kCase, always(100));
  const CheckReport report = run();
  EXPECT_EQ(only_item(report).verdict, ChangeVerdict::error);
  EXPECT_THAT(only_item(report).evidence,
              StartsWith("'base' answered 2.04e+04 us for a call of v; allowed is at most 2e+04"));
  EXPECT_EQ(report.exit_code(), kCouldNotFinish);
}

TEST_F(CheckGate, ABuildThatIsAHundredThousandTimesFasterIsNoBuild) {
  base.add_case(kCase, always(1e-4));
  current.add_case(kCase, always(100));
  const CheckReport report = run();
  EXPECT_EQ(only_item(report).verdict, ChangeVerdict::error);
  EXPECT_FALSE(only_item(report).is_regression);
  EXPECT_EQ(only_item(report).evidence,
            "the baseline answered 0.0001 us for a call, the current build 100 us; the ratio may "
            "be at most "
            "100000");
  EXPECT_EQ(report.exit_code(), kCouldNotFinish);
}

// Each pair of processes takes 0.2 s to open and two rounds of 0.04 s. The fourth pair has no
// round.
TEST_F(CheckGate, WhatTheBudgetDoesNotReachIsUnfinished) {
  for (const char* id : {"a[1]", "b[1]"}) {
    base.add_case(id, always(100));
    current.add_case(id, always(100));
  }
  options.budget_s = 1;
  const CheckReport report = run();
  ASSERT_EQ(report.items.size(), 2u);
  EXPECT_EQ(report.items[0].case_id, "a[1]");
  EXPECT_EQ(report.items[0].evidence, "not measured: the budget ended");
  EXPECT_EQ(current.samples("a[1]", "v"), 6);
  EXPECT_FALSE(report.items[0].speed) << "part of a screening is none";
  EXPECT_EQ(report.items[1].evidence, "not measured: the budget ended before its turn");
  EXPECT_EQ(report.exit_code(), kCouldNotFinish);
  EXPECT_EQ(outcome_text(report), "UNDECIDED");
}

// Enough for the screening and the verdict: 10 pairs of three openings and 3 rounds of three
// samples.
TEST_F(CheckGate, ABudgetThatEndsBeforeTheConfirmationLeavesItUndecided) {
  base.add_case(kCase, always(100));
  current.add_case(kCase, always(110));
  options.budget_s = 1.68 + 10 * (0.3 + 3 * 0.06) - 0.01;
  const CheckReport report = run();
  EXPECT_EQ(only_item(report).verdict, ChangeVerdict::ambiguous);
  EXPECT_EQ(only_item(report).speed->rounds, 30);
  EXPECT_THAT(only_item(report).evidence, HasSubstr("not confirmed: the budget ended"));
  EXPECT_EQ(report.exit_code(), kCouldNotFinish) << "what was not reached is no success";
  EXPECT_EQ(outcome_text(report), "UNDECIDED");
  EXPECT_THAT(report.notices,
              ElementsAre(HasSubstr("1 of 1 undecided: 1 look slower, 0 were not measured")));
}

// The first suspect is confirmed before the second case is screened. The check fails although the
// budget ends then: one screening, 20 pairs of 0.48 s.
TEST_F(CheckGate, ASuspectIsConfirmedBeforeTheNextCaseIsScreened) {
  for (const char* id : {"a[1]", "b[1]", "c[1]"}) {
    base.add_case(id, always(100));
    current.add_case(id, always(150));
  }
  options.budget_s = 1.68 + 20 * 0.48 + 0.1;
  const CheckReport report = run();
  EXPECT_EQ(report.count(ChangeVerdict::slower), 1);
  EXPECT_EQ(report.items[0].case_id, "a[1]");
  EXPECT_EQ(current.samples("c[1]", "v"), 0);
  EXPECT_EQ(report.exit_code(), kVerdictFailed);
}

// A slowdown by a factor of 1.5 is never a success, for any budget.
TEST_F(CheckGate, NoBudgetMakesALargeSlowdownASuccess) {
  for (const char* id : {"a[1]", "slow[1]", "b[1]"}) {
    base.add_case(id, always(100));
    current.add_case(id, always(std::string(id) == "slow[1]" ? 150 : 100));
  }
  for (double budget_s = 0.1; budget_s < 20; budget_s += 0.7) {
    clock_s = 0;
    options.budget_s = budget_s;
    EXPECT_NE(run().exit_code(), kAllWell) << budget_s;
  }
}

// An undecided item is a note; it fails if requested.
TEST_F(CheckGate, AmbiguousFailsWhereAsked) {
  base.add_case(kCase, always(100));
  current.add_case(kCase, [](ScriptedSample s) {
    return s.process % 4 < 2 ? 80.0 : 104.0;  // faster in half of the processes
  });
  options.budget_s = 60;
  const CheckReport report = run();
  EXPECT_EQ(only_item(report).verdict, ChangeVerdict::ambiguous) << only_item(report).evidence;
  EXPECT_EQ(report.exit_code(), kAllWell);
  options.fails_on_ambiguous = true;
  clock_s = 0;
  const CheckReport strict = run();
  EXPECT_EQ(strict.exit_code(), kVerdictFailed);
  EXPECT_EQ(outcome_text(strict), "AMBIGUOUS");
}

// +-20 % in the first process only. An item that is the same after 30 rounds does not mention the
// budget.
TEST_F(CheckGate, ThirtyRoundsWithoutAChangeNeedNoMore) {
  base.add_case(kCase, always(100));
  current.add_case(kCase, [](ScriptedSample s) {
    return s.process > 6 ? 100.0 : s.number % 2 == 0 ? 120.0 : 80.0;
  });
  EXPECT_THAT(only_item(run()).evidence, testing::Not(HasSubstr("budget")));
}

// The first of two variants hangs in its second sample. The second continues in a new process.
TEST_F(CheckGate, AHungVariantCostsItselfOnly) {
  const auto hangs = [](ScriptedSample s) -> double {
    if (s.number == 1) throw ChildLost("no answer within 5 s");
    return 100;
  };
  const ListedCase listed = ScriptedBuild::listed_case(kCase);
  base.add_case(listed, {ScriptedBuild::passing("first", always(100)),
                         ScriptedBuild::passing("second", always(100))});
  current.add_case(listed, {ScriptedBuild::passing("first", hangs),
                            ScriptedBuild::passing("second", always(100))});
  const CheckReport report = run();
  ASSERT_EQ(report.items.size(), 2u);
  EXPECT_EQ(report.items[0].variant, "first");
  EXPECT_EQ(report.items[0].verdict, ChangeVerdict::error);
  EXPECT_EQ(report.items[0].evidence, "no answer within 5 s");
  EXPECT_FALSE(report.items[0].is_regression) << "may be the machine";
  EXPECT_EQ(report.items[1].verdict, ChangeVerdict::same);
  EXPECT_EQ(current.processes(), 6 + 1);
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
  const CheckReport report = run();
  ASSERT_EQ(report.items.size(), 2u);
  EXPECT_EQ(report.items[0].verdict, ChangeVerdict::error);
  EXPECT_EQ(report.items[0].evidence, "was ended by signal 11");
  EXPECT_EQ(report.items[1].verdict, ChangeVerdict::same);
}

// An error that a worker reports does not lose the worker: the current build fails now.
TEST_F(CheckGate, AVariantThatCannotBeTimedAnyMoreIsARegression) {
  base.add_case(kCase, always(100));
  current.add_case(kCase, [](ScriptedSample) -> double { throw Error("threw"); });
  const CheckReport report = run();
  EXPECT_EQ(only_item(report).verdict, ChangeVerdict::error);
  EXPECT_TRUE(only_item(report).is_regression);
  EXPECT_EQ(report.exit_code(), kVerdictFailed);
}

TEST_F(CheckGate, LostAccuracyIsARegressionThatIsNotTimed) {
  const ListedCase listed = ScriptedBuild::listed_case(kCase);
  ScriptedVariant worse = ScriptedBuild::passing("v", always(50));
  worse.opened.accuracy->max_ulp = 4.5;  // 1.5 x 2 + 1 = 4 are allowed
  base.add_case(kCase, always(100));
  current.add_case(listed, {worse});
  const CheckReport report = run();
  EXPECT_EQ(only_item(report).verdict, ChangeVerdict::error);
  EXPECT_TRUE(only_item(report).is_regression);
  EXPECT_THAT(only_item(report).evidence, HasSubstr("from 2 to 4.5 ULP"));
  EXPECT_EQ(current.samples(kCase, "v"), 0);
}

// A race affects the ninth sample: the results of the last timed call differ from those of the next
// call.
TEST_F(CheckGate, ResultsThatDifferFromCallToCallAreARegression) {
  ScriptedVariant racy = ScriptedBuild::passing("v", always(100));
  racy.wrong = [](ScriptedSample s) { return s.process == 5 && s.number == 0 ? "differs" : ""; };
  base.add_case(kCase, always(100));
  current.add_case(ScriptedBuild::listed_case(kCase), {racy});
  const CheckReport report = run();
  EXPECT_EQ(only_item(report).verdict, ChangeVerdict::error);
  EXPECT_EQ(only_item(report).evidence, "differs");
  EXPECT_EQ(report.exit_code(), kVerdictFailed);
}

// Calls that agree with each other, but not with the verified results.
TEST_F(CheckGate, TimedCallsThatAreAllWrongAreARegression) {
  ScriptedVariant right = ScriptedBuild::passing("v", always(100));
  right.opened.results = "01";
  right.results = [](ScriptedSample) { return "01"; };
  ScriptedVariant wrong = right;
  wrong.results = [](ScriptedSample s) { return s.process < 4 ? "01" : "02"; };
  base.add_case(ScriptedBuild::listed_case(kCase), {right});
  current.add_case(ScriptedBuild::listed_case(kCase), {wrong});
  const CheckReport report = run();
  EXPECT_EQ(only_item(report).verdict, ChangeVerdict::error);
  EXPECT_THAT(only_item(report).evidence, HasSubstr("differ from the verified results"));
  EXPECT_EQ(report.exit_code(), kVerdictFailed);
}

/// Waived errors do not hide the speed.
class CheckGateWaivers : public CheckGate {
 protected:
  CheckReport run_with_errors(double us) {
    base.add_case(kCase, always(100));
    ScriptedVariant current_variant = ScriptedBuild::passing("v", always(us));
    current_variant.opened.accuracy->max_ulp = 5;
    current_variant.opened.bits = "01";
    current.add_case(ScriptedBuild::listed_case(kCase), {current_variant});
    options.accuracy.waiver_of_errors = [this](const CheckedItem& item) {
      return waiver_of_errors(item, waivers, "2026-06-15");
    };
    CheckReport report = run();
    apply_waivers(report, waivers, "2026-06-15");
    return report;
  }

  std::vector<Waiver> waivers = parse_waivers(
      "waivers: [{id: relu, reason: why, expires: 2030-01-01, allow: {error: 5}}]", "w.yaml");
};

TEST_F(CheckGateWaivers, WhatIsSlowerWithWaivedErrorsIsARegression) {
  const CheckReport report = run_with_errors(200);
  EXPECT_EQ(only_item(report).verdict, ChangeVerdict::slower);
  EXPECT_THAT(only_item(report).evidence, HasSubstr("+100.0%"));
  EXPECT_THAT(only_item(report).notices,
              Contains("its largest error grew from 2 to 5 ULP; up to 4 are allowed; waived "
                       "until 2030-01-01: why (w.yaml:1)"));
  EXPECT_EQ(report.exit_code(), kVerdictFailed);
}

TEST_F(CheckGateWaivers, WhatIsNoSlowerIsWaivedWithItsSpeed) {
  const CheckReport report = run_with_errors(100);
  EXPECT_EQ(only_item(report).verdict, ChangeVerdict::error);
  ASSERT_TRUE(only_item(report).waived.has_value());
  EXPECT_THAT(only_item(report).evidence, HasSubstr("up to 4 are allowed; its speed: +0.0%"));
  EXPECT_EQ(report.exit_code(), kAllWell);
}

TEST_F(CheckGateWaivers, ErrorsBeyondWhatIsAllowedAreNotTimed) {
  waivers.front().error_factor = 1.5;  // of 2 ULP, plus 1
  const CheckReport report = run_with_errors(100);
  EXPECT_EQ(only_item(report).verdict, ChangeVerdict::error);
  EXPECT_EQ(current.samples(kCase, "v"), 0);
  EXPECT_EQ(report.exit_code(), kVerdictFailed);
}

TEST_F(CheckGateWaivers, WhatIsNotReachedIsUnfinished) {
  options.budget_s = 1;
  const CheckReport report = run_with_errors(100);
  EXPECT_EQ(only_item(report).verdict, ChangeVerdict::ambiguous);
  EXPECT_EQ(report.exit_code(), kCouldNotFinish);
}

// An error that the baseline also has is a note.
TEST_F(CheckGate, ResultsThatDifferInBothBuildsAreNotedOnly) {
  ScriptedVariant racy = ScriptedBuild::passing("v", always(100));
  racy.wrong = [](ScriptedSample) { return "differs"; };
  base.add_case(ScriptedBuild::listed_case(kCase), {racy});
  current.add_case(ScriptedBuild::listed_case(kCase), {racy});
  const CheckReport report = run();
  EXPECT_EQ(only_item(report).verdict, ChangeVerdict::same);
  EXPECT_THAT(only_item(report).notices, ElementsAre("in the baseline differs"));
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
  const CheckReport report = run();
  std::map<std::string, ChangeVerdict> verdicts;
  for (const CheckedItem& item : report.items) verdicts[item.variant] = item.verdict;
  EXPECT_EQ(verdicts,
            (std::map<std::string, ChangeVerdict>{{"both", ChangeVerdict::same},
                                                  {"gone", ChangeVerdict::gone},
                                                  {"new", ChangeVerdict::new_},
                                                  {"wrong", ChangeVerdict::incomparable}}));
  EXPECT_EQ(report.exit_code(), kVerdictFailed) << "one is gone";
}

TEST_F(CheckGate, AFailureThatTheCaseExpectsIsSaidToBe) {
  ListedCase listed = ScriptedBuild::listed_case(kCase);
  listed.expected_failure = {{"v1", "repaired"}, {}, "V1 overflows"};
  const ScriptedVariant wrong{{"v1", Status::failed, "1 NaN", {}}, always(1)};
  for (ScriptedBuild* build : {&base, &current}) {
    build->add_case(listed, {wrong, ScriptedBuild::passing("repaired", always(100)),
                             ScriptedBuild::passing("v2", always(100))});
  }
  const CheckReport report = run();
  ASSERT_EQ(report.items.size(), 3u);
  EXPECT_EQ(report.items[0].verdict, ChangeVerdict::incomparable);
  EXPECT_EQ(report.items[0].evidence, "not timed: fails as its case expects, V1 overflows (1 NaN)");
  EXPECT_EQ(report.items[1].verdict, ChangeVerdict::same);
  EXPECT_THAT(report.items[1].notices,
              ElementsAre("passes, but its case expects it to fail: V1 overflows"));
  EXPECT_THAT(report.items[2].notices, testing::IsEmpty());
  EXPECT_EQ(report.exit_code(), kAllWell);
}

TEST_F(CheckGate, CasesThatOnlyOneBuildHas) {
  base.add_case("old[1]", always(100));
  current.add_case("new[1]", always(100));
  const CheckReport report = run();
  ASSERT_EQ(report.items.size(), 2u);
  EXPECT_EQ(report.items[0].case_id, "old[1]");
  EXPECT_EQ(report.items[0].verdict, ChangeVerdict::gone);
  EXPECT_TRUE(report.items[0].is_regression);
  EXPECT_EQ(report.items[1].case_id, "new[1]");
  EXPECT_EQ(report.items[1].verdict, ChangeVerdict::new_);
}

// An older build that cannot read the selection is asked for each case.
TEST_F(CheckGate, ABuildThatCannotReadTheSelectionIsAskedCaseByCase) {
  base.add_case("known[1]", always(100));
  base.list_error = "unknown operator 'new'";
  current.add_case("known[1]", always(100));
  current.add_case("new[1]", always(100));
  const CheckReport report = run();
  ASSERT_EQ(report.items.size(), 2u);
  EXPECT_EQ(report.items[0].verdict, ChangeVerdict::new_);
  EXPECT_EQ(report.items[1].verdict, ChangeVerdict::same);
  EXPECT_THAT(report.notices, ElementsAre(StartsWith("the baseline cannot read the selection "
                                                     "(unknown operator 'new')")));
}

TEST_F(CheckGate, AThresholdOfACaseOverridesTheRule) {
  ListedCase tolerant = ScriptedBuild::listed_case(kCase);
  tolerant.threshold = 0.2;
  for (ScriptedBuild* build : {&base, &current}) {
    build->add_case(tolerant, {ScriptedBuild::passing("v", always(build == &base ? 100 : 110))});
  }
  EXPECT_EQ(only_item(run()).verdict, ChangeVerdict::same);
}

// Steps and a case: one step is the same, one slower, one converts more, one is NEW, one GONE, and
// one is skipped in both. All are in the report.
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
  const CheckReport report = run();
  std::map<std::string, const CheckedItem*> items;
  for (const CheckedItem& item : report.items) items[item.variant] = &item;
  ASSERT_EQ(items.size(), 7u);
  EXPECT_EQ(items["v"]->verdict, ChangeVerdict::same);
  EXPECT_EQ(items["same"]->verdict, ChangeVerdict::same);
  EXPECT_EQ(items["slower"]->verdict, ChangeVerdict::slower);
  EXPECT_THAT(items["slower"]->evidence, HasSubstr(" per sample, slower in 60 of 60 rounds"));
  EXPECT_EQ(items["more"]->verdict, ChangeVerdict::error);
  EXPECT_TRUE(items["more"]->is_regression) << "although it is faster";
  EXPECT_EQ(items["new"]->verdict, ChangeVerdict::new_);
  EXPECT_EQ(items["gone"]->verdict, ChangeVerdict::gone);
  EXPECT_EQ(items["skipped"]->verdict, ChangeVerdict::incomparable);
  EXPECT_EQ(items["skipped"]->evidence, "skipped: on a device only");
  EXPECT_EQ(title_of(*items["same"]), "step same of unit[fp32], 1 thread");
  EXPECT_EQ(current.samples("unit[fp32]", "more"), 0) << "conversions need no statistics";
  EXPECT_EQ(report.exit_code(), kVerdictFailed);
}

// All steps are refused: nothing was judged, which is not a success.
TEST_F(CheckGate, AContextWithoutAStepThatRunsIsNothingToJudge) {
  ListedCase listed = ScriptedBuild::listed_case("unit[fp32]");
  listed.context = ContextSource{"c.yaml", "unit", DType::fp32, {}};
  const ScriptedVariant skipped{{"only", Status::skipped, "on a device only", {}}, always(1)};
  base.add_case(listed, {skipped});
  current.add_case(listed, {skipped});
  const CheckReport report = run();
  EXPECT_EQ(only_item(report).verdict, ChangeVerdict::incomparable);
  EXPECT_EQ(report.exit_code(), kNothingToJudge);
}

// One step is 20 % slower. The other case does not dilute this.
TEST_F(CheckGate, ASlowerStepCostsItsOwnShare) {
  ListedCase listed = ScriptedBuild::listed_case("unit[fp32]");
  listed.context = ContextSource{"c.yaml", "unit", DType::fp32, {}};
  base.add_case(listed, {ScriptedBuild::passing("s", always(100))});
  current.add_case(listed, {ScriptedBuild::passing("s", always(120))});
  base.add_case(kCase, always(1e6));
  current.add_case(kCase, always(1e6));
  base.sample_seconds = current.sample_seconds = 1;
  options.budget_s = 6000;
  options.fail_over_percent = 19;
  const CheckReport report = run();
  EXPECT_NEAR(report.slower_percent(), 20, 1e-9);
  EXPECT_EQ(report.exit_code(), kVerdictFailed);
}

TEST_F(CheckGate, SlowerCasesTogetherDecideWhereAsked) {
  base.add_case(kCase, always(100));
  current.add_case(kCase, always(110));
  options.fail_over_percent = 20;  // the case is the whole network: it costs 10 %
  const CheckReport report = run();
  EXPECT_EQ(only_item(report).verdict, ChangeVerdict::slower);
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
