#include "harness/check/watch.h"

#include <gmock/gmock.h>

#include <sstream>

#include "tests/support/records.h"

namespace opbench::check {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Samples of `us` with a spread of 1%.
Record record(const std::string& variant, double us, double max_ulp = 2, double copy = 10) {
  std::vector<double> samples;
  for (int i = -4; i <= 4; ++i) samples.push_back(us * (1 + 0.0025 * i));
  Record r = timed_record(std::move(samples), "relu[64,fp32]", variant);
  r.accuracy = Accuracy{.max_ulp = max_ulp};
  r.copy_gb_per_s = copy;
  r.reproduce = "opbench --case x";
  return r;
}

ResultsFile file(std::vector<Record> records) {
  ResultsFile f;
  f.path = "f.json";
  f.machine.cpu = "cpu";
  f.run.records = std::move(records);
  return f;
}

CheckedItem only(const CheckReport& report, const std::string& variant) {
  for (const CheckedItem& item : report.items) {
    if (item.variant == variant) return item;
  }
  ADD_FAILURE() << "no " << variant;
  return {};
}

}  // namespace

// Everything takes 20% longer, and copies run at 10/12 of the rate: the machine changed, not the
// variant.
TEST(CheckWatch, WhatTheMachineLostIsTakenOut) {
  const ResultsFile before = file({record("native", 100), record("relu", 50)}),
                    after =
                        file({record("native", 120, 2, 10 / 1.2), record("relu", 60, 2, 10 / 1.2)});
  const CheckReport report = run_watch(before, after, {});
  EXPECT_EQ(report.count(ChangeVerdict::same), 2);
  EXPECT_NEAR(only(report, "relu").speed->change, 0, 1e-9);
  EXPECT_THAT(report.notices.front(), HasSubstr("+20.0%"));
}

// Results files may have any origin, and those of older versions have unquoted paths.
TEST(CheckWatch, TheNextLineRunsOpbenchAndNothingElse) {
  const auto next_of = [](const std::string& reproduce) {
    Record slow = record("relu", 57.5);
    slow.reproduce = reproduce;
    const CheckReport report = run_watch(file({record("native", 100), record("relu", 50)}),
                                         file({record("native", 100), slow}), {});
    return only(report, "relu").next;
  };
  EXPECT_EQ(next_of("opbench --case 'relu[64]' --variant 'relu'"),
            "opbench --case 'relu[64]' --variant relu");
  EXPECT_EQ(next_of("opbench --cases $(id).yaml;id\n| id"),
            "opbench --cases $'\\044\\050id\\051.yaml\\073id\\012\\174' id");
  EXPECT_EQ(next_of("rm -r x"), "");
}

// 15% slower on an unchanged machine; the doubled threshold is 10%.
TEST(CheckWatch, SlowerIsShownAndFailsOnlyWhereAsked) {
  const ResultsFile before = file({record("native", 100), record("relu", 50)}),
                    after = file({record("native", 100), record("relu", 57.5)});
  const CheckReport shown = run_watch(before, after, {});
  EXPECT_EQ(only(shown, "relu").verdict, ChangeVerdict::slower);
  EXPECT_NEAR(only(shown, "relu").speed->change, 0.15, 1e-9);
  EXPECT_EQ(shown.exit_code(), 0);
  WatchOptions gate;
  gate.is_gate = true;
  EXPECT_EQ(run_watch(before, after, gate).exit_code(), 1);
  const ResultsFile less = file({record("native", 100), record("relu", 54)});
  EXPECT_EQ(only(run_watch(before, less, gate), "relu").verdict, ChangeVerdict::same);
}

TEST(CheckWatch, LostAccuracyAndWhatIsGoneFail) {
  const ResultsFile before = file({record("native", 100), record("relu", 50)});
  ResultsFile after = file({record("native", 100), record("relu", 50, 5)});
  EXPECT_EQ(only(run_watch(before, after, {}), "relu").verdict, ChangeVerdict::error);
  EXPECT_EQ(run_watch(before, after, {}).exit_code(), 1);
  after.run.records.pop_back();
  EXPECT_EQ(only(run_watch(before, after, {}), "relu").verdict, ChangeVerdict::gone);
  EXPECT_EQ(run_watch(before, after, {}).exit_code(), 1);
}

// From an older build whose softplus had one attribute. Both attributes have their defaults.
TEST(CheckWatch, ANewAttributeAtItsDefaultLeavesTheCaseWhatItWas) {
  Record old = record("softplus_v2", 50);
  old.case_id = "softplus[64,fp32,ND,beta=1]";
  Record now = old;
  now.case_id = "softplus[64,fp32,ND,beta=1,threshold=20]";
  const CheckReport report = run_watch(file({old}), file({now}), {});
  ASSERT_EQ(report.items.size(), 1u);
  EXPECT_EQ(report.items[0].verdict, ChangeVerdict::same);
  EXPECT_EQ(report.items[0].case_key, "softplus[64,fp32,ND]");
  EXPECT_EQ(report.items[0].case_id, "softplus[64,fp32,ND,beta=1,threshold=20]");
  now.case_id = "softplus[64,fp32,ND,beta=2,threshold=20]";
  EXPECT_EQ(run_watch(file({old}), file({now}), {}).count(ChangeVerdict::gone), 1);
}

TEST(CheckWatch, TimesOfOtherMachinesAreNotCompared) {
  const ResultsFile before = file({record("native", 100)});
  ResultsFile after = file({record("native", 300)});
  after.machine.cores = 64;
  const CheckReport report = run_watch(before, after, {});
  EXPECT_EQ(report.count(ChangeVerdict::incomparable), 1);
  EXPECT_EQ(report.exit_code(), 4) << "nothing was judged";
  EXPECT_THAT(report.notices.front(), HasSubstr("cores 0, now 64"));
  WatchOptions options;
  options.allow_other_machine = true;
  EXPECT_EQ(run_watch(before, after, options).count(ChangeVerdict::incomparable), 0);
}

TEST(CheckWatch, TwoRunsSideBySideHaveTheVerdictsOfTheWatch) {
  const ResultsFile before = file({record("native", 100), record("relu", 50), record("clamp", 50),
                                   record("gone", 50), record("wild", 50)});
  ResultsFile after = file({record("native", 100), record("relu", 57.5), record("clamp", 50, 5),
                            record("new", 50), record("wild", 50)});
  after.run.records.back().times->median_us = 100;  // the samples have 50
  std::ostringstream out;
  const auto error_of = [](const Record& r) {
    return r.variant == "relu" ? std::optional(0.25) : std::nullopt;
  };
  const RunDifferences found = compare_runs(out, after, before, error_of, true, {});
  EXPECT_THAT(out.str(),
              AllOf(HasSubstr("2.5e-01   57.50 us   50.00 us       1.15  SLOWER  relu "),
                    HasSubstr(" 1.00  WORSE   clamp "), HasSubstr(" 1.00  same    native "),
                    HasSubstr("disturbed  same    wild ")));
  EXPECT_LT(out.str().find("WORSE"), out.str().find("SLOWER"));
  EXPECT_EQ(found.pairs, 4u);
  EXPECT_EQ(found.worse + found.slower + found.faster, 2u);
  EXPECT_EQ(found.only_first + found.only_second, 2u);
  after.machine.cores = 64;
  out.str("");
  EXPECT_EQ(compare_runs(out, after, before, error_of, true, {}).slower, 0u);
  EXPECT_THAT(out.str(), HasSubstr("The machines differ: times are shown but not compared."));
}

TEST(CheckWatch, EmptyResultsAreNoSuccess) {
  EXPECT_EQ(run_watch(file({}), file({}), {}).exit_code(), 4);
  EXPECT_EQ(run_watch(file({}), file({record("relu", 1)}), {}).exit_code(), 4);
  EXPECT_EQ(run_watch(file({record("relu", 1)}), file({}), {}).exit_code(), 1) << "all is gone";
}

}  // namespace opbench::check
