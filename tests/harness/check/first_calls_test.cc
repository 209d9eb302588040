// First calls, compared with repeated calls, on builds that answer from a script.
#include "harness/check/first_calls.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "harness/check/gate.h"
#include "harness/check/report.h"
#include "tests/harness/check/scripted_build.h"

namespace opbench::check {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class CheckFirstCalls : public testing::Test {
 protected:
  /// Repeated calls take `us`, first calls take `first_us`.
  void add(ScriptedBuild& build, double first_us,
           const std::function<double(ScriptedSample)>& us = always(100)) const {
    ScriptedVariant variant = ScriptedBuild::passing("v", us);
    variant.first_us = [first_us](ScriptedSample) { return first_us; };
    build.add_case(ScriptedBuild::listed_case(kCase), {variant});
  }

  CheckReport run() {
    options.base = base.program();
    options.current = current.program();
    options.run.threads = {1};
    options.compares_first_calls = true;
    options.now_s = [this] { return clock_s; };
    return run_gate(options, {});
  }

  static const CheckedItem& first_call(const CheckReport& report) {
    for (const CheckedItem& item : report.items) {
      if (item.is_first_call) return item;
    }
    throw Error("no first call");
  }

  double clock_s = 0;
  std::string log;
  ScriptedBuild base{"base", clock_s, log}, current{"current", clock_s, log};
  GateOptions options;
};

}  // namespace

TEST_F(CheckFirstCalls, AreNotMeasuredUnlessWanted) {
  add(base, 1000);
  add(current, 2000);
  run();
  EXPECT_GT(current.first_calls(), 0);
  const int before = current.first_calls();
  options.compares_first_calls = false;
  const CheckReport report = run_gate(options, {});
  EXPECT_EQ(current.first_calls(), before);
  EXPECT_EQ(report.items.size(), 1u);
}

// 12 pairs of processes for the screening, then 30 and 30 more with the A/A process: one call in
// each process.
TEST_F(CheckFirstCalls, ASlowerOneIsARegressionBesideCallsThatAreTheSame) {
  add(base, 1000);
  add(current, 1500);
  const CheckReport report = run();
  ASSERT_EQ(report.items.size(), 2u);
  const CheckedItem& first = report.items[0];
  EXPECT_TRUE(first.is_first_call);
  EXPECT_EQ(first.verdict, ChangeVerdict::slower);
  EXPECT_TRUE(first.is_regression);
  EXPECT_DOUBLE_EQ(first.speed->base_us, 1000);
  EXPECT_DOUBLE_EQ(first.speed->current_us, 1500);
  EXPECT_THAT(first.evidence, HasSubstr("slower in 60 of 60 rounds"));
  EXPECT_THAT(first.next, HasSubstr(" --cold-start"));
  EXPECT_FALSE(first.network_percent) << "a network has it once";
  EXPECT_EQ(report.items[1].verdict, ChangeVerdict::same);
  EXPECT_FALSE(report.items[1].is_first_call);
  EXPECT_EQ(report.exit_code(), kVerdictFailed);
  EXPECT_EQ(current.first_calls(), 12 + 30 + 30);
  EXPECT_EQ(base.first_calls(), 12 + 2 * 30 + 2 * 30);
  EXPECT_EQ(current.processes(), 6 + 12 + 30 + 30)
      << "of calls that repeat, and one for each first call";
}

TEST_F(CheckFirstCalls, TheSameIsSettledByTheScreening) {
  add(base, 1000);
  add(current, 1000);
  const CheckReport report = run();
  EXPECT_EQ(first_call(report).verdict, ChangeVerdict::same);
  EXPECT_EQ(current.first_calls(), 12);
  EXPECT_EQ(report.exit_code(), kAllWell);
}

TEST_F(CheckFirstCalls, AreScreenedOnANoisyMachine) {
  add(base, 1000);
  add(current, 1000, noisy(100));
  const CheckReport report = run();
  ASSERT_GT(report.noise_floor, kLargestNoise);
  EXPECT_EQ(first_call(report).verdict, ChangeVerdict::same);
  EXPECT_EQ(current.first_calls(), 12);
}

TEST_F(CheckFirstCalls, SuspectsAreConfirmedOnANoisyMachine) {
  add(base, 1000);
  add(current, 1500, noisy(100));
  const CheckReport report = run();
  ASSERT_GT(report.noise_floor, kLargestNoise);
  EXPECT_EQ(first_call(report).verdict, ChangeVerdict::slower);
  EXPECT_EQ(current.first_calls(), 12 + 30 + 30);
}

// First calls that vary do not make suspects; more processes would not help.
TEST_F(CheckFirstCalls, WithoutASuspectNothingMoreIsMeasuredOnANoisyMachine) {
  add(base, 1000);
  ScriptedVariant variant = ScriptedBuild::passing("v", noisy(100));
  variant.first_us = noisy(1000);
  current.add_case(ScriptedBuild::listed_case(kCase), {variant});
  EXPECT_EQ(first_call(run()).verdict, ChangeVerdict::ambiguous);
  EXPECT_EQ(current.first_calls(), 12);
}

// First calls have no cost in the network, so --fail-over does not apply.
TEST_F(CheckFirstCalls, FailWhateverIsAllowedOfTheNetwork) {
  add(base, 1000);
  add(current, 1500);
  options.fail_over_percent = 50;
  EXPECT_EQ(run().exit_code(), kVerdictFailed);
}

TEST_F(CheckFirstCalls, OfAnOlderBuildAreNotCompared) {
  add(base, 1000);
  add(current, 1500);
  base.knows_first_calls = false;
  const CheckReport report = run();
  EXPECT_EQ(first_call(report).verdict, ChangeVerdict::incomparable);
  EXPECT_THAT(first_call(report).evidence, HasSubstr("the baseline is older"));
  EXPECT_EQ(report.exit_code(), kAllWell) << "as without";
}

TEST_F(CheckFirstCalls, AWorkerThatIsLostIsAnErrorOfTheFirstCall) {
  add(base, 1000);
  ScriptedVariant variant = ScriptedBuild::passing("v", [](ScriptedSample) { return 100.0; });
  variant.first_us = [](ScriptedSample) -> double { throw ChildLost("it crashed"); };
  current.add_case(ScriptedBuild::listed_case(kCase), {variant});
  const CheckReport report = run();
  EXPECT_EQ(first_call(report).verdict, ChangeVerdict::error);
  EXPECT_EQ(first_call(report).evidence, "it crashed");
  EXPECT_EQ(report.count(ChangeVerdict::same), 1);
  EXPECT_EQ(report.exit_code(), kCouldNotFinish);
}

// The last 30 pairs take 0.36 s of the clock each. The budget ends in the 30 pairs before.
TEST_F(CheckFirstCalls, WhatTheBudgetCutsIsUnfinished) {
  add(base, 1000);
  add(current, 1500);
  run();
  const double whole = clock_s;
  clock_s = 0;
  options.budget_s = whole - 15;
  const CheckReport report = run();
  EXPECT_EQ(first_call(report).verdict, ChangeVerdict::ambiguous);
  EXPECT_TRUE(first_call(report).is_unfinished);
  EXPECT_EQ(report.exit_code(), kCouldNotFinish);
}

TEST_F(CheckFirstCalls, AreCalledThatInEveryReport) {
  add(base, 1000);
  add(current, 1500);
  const CheckReport report = run();
  std::ostringstream console, json, markdown, junit;
  print(console, report, {.width = 1000}, false);
  write_json(json, report, {});
  write_markdown(markdown, report);
  write_junit(junit, report);
  EXPECT_THAT(console.str(), HasSubstr("SLOWER       first call of v on relu[64], 1 thread\n"));
  EXPECT_THAT(markdown.str(), HasSubstr("first call of v on relu"));
  EXPECT_THAT(junit.str(), HasSubstr("relu[64]/v/threads:1/first_call"));
  const auto items = nlohmann::json::parse(json.str())["items"];
  EXPECT_EQ(items[0]["measure"], "first call");
  EXPECT_EQ(items[1]["measure"], "call");
}

}  // namespace opbench::check
