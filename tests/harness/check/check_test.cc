#include "harness/check/check.h"

#include <gmock/gmock.h>

#include <limits>

namespace opbench::check {
namespace {

CheckedItem item(ChangeVerdict verdict, std::optional<double> percent = std::nullopt,
                 const std::string& id = "relu[64]", int threads = 1) {
  CheckedItem one;
  one.case_id = id;
  one.threads = threads;
  one.verdict = verdict;
  one.network_percent = percent;
  one.is_regression = verdict == ChangeVerdict::slower;
  return one;
}

CheckedItem step(double change) {
  CheckedItem one = item(ChangeVerdict::slower);
  one.context = ContextSource{};
  one.speed.emplace().change = change;
  return one;
}

CheckReport report_of(std::vector<CheckedItem> items) {
  CheckReport report;
  report.items = std::move(items);
  return report;
}

CheckedItem waived(CheckedItem one) {
  one.waived = WaivedBy{"w.yaml:1", "known", "2030-01-01"};
  one.is_regression = false;
  return one;
}

}  // namespace

// 0.05 us are 0.5 % of 10 us. Of 0.1 us they would be 50 %; the limit is 25 %.
TEST(SpeedRule, TheFloorIsAShareOfTheCall) {
  const SpeedRule rule;
  EXPECT_DOUBLE_EQ(rule.floor_share(10), 0.005);
  EXPECT_DOUBLE_EQ(rule.floor_share(0.1), 0.25);
  SpeedRule wanted = rule;
  wanted.most_floor_share = std::numeric_limits<double>::infinity();
  EXPECT_DOUBLE_EQ(wanted.floor_share(0.1), 0.5);
}

// The worse variant of relu costs 3 %, gelu 2 %. With two threads the sum is 4 %, which is less.
TEST(CheckReportCost, IsThatOfTheWorstVariantOfEachCase) {
  const CheckReport report = report_of(
      {item(ChangeVerdict::slower, 1), item(ChangeVerdict::slower, 3),
       item(ChangeVerdict::slower, 2, "gelu[64]"), item(ChangeVerdict::slower, 4, "relu[64]", 2)});
  EXPECT_DOUBLE_EQ(report.slower_percent(), 5);
  EXPECT_DOUBLE_EQ(report_of({item(ChangeVerdict::faster, 9)}).slower_percent(), 0);
  EXPECT_DOUBLE_EQ(report_of({waived(item(ChangeVerdict::slower, 9))}).slower_percent(), 0);
}

// A step that is 7 % slower is a whole network by itself.
TEST(CheckReportCost, OfAStepIsItsOwnChange) {
  EXPECT_DOUBLE_EQ(report_of({step(0.07), item(ChangeVerdict::slower, 2)}).slower_percent(), 7);
  EXPECT_DOUBLE_EQ(report_of({step(0.01), item(ChangeVerdict::slower, 2)}).slower_percent(), 2);
  CheckedItem first_call = step(0.5);
  first_call.is_first_call = true;
  EXPECT_DOUBLE_EQ(report_of({first_call}).slower_percent(), 0);
}

// Above the limit every SLOWER without a waiver fails; at the limit no item fails.
TEST(CheckReportFailures, FollowTheLimitOfTheNetwork) {
  CheckReport report =
      report_of({item(ChangeVerdict::slower, 2), item(ChangeVerdict::slower, 3, "gelu[64]"),
                 waived(item(ChangeVerdict::slower, 9, "tanh[64]"))});
  for (CheckedItem& one : report.items) one.is_regression = false;
  report.fail_over_percent = 5;
  report.mark_failures();
  EXPECT_EQ(report.exit_code(), kAllWell);
  report.fail_over_percent = 4.9;
  EXPECT_EQ(report.exit_code(), kVerdictFailed);
  report.mark_failures();
  EXPECT_TRUE(report.items[0].is_regression);
  EXPECT_TRUE(report.items[1].is_regression);
  EXPECT_FALSE(report.items[2].is_regression);
}

TEST(CheckReportFailures, AnAmbiguousOneFailsWhereAsked) {
  CheckReport report = report_of({item(ChangeVerdict::same), item(ChangeVerdict::ambiguous)});
  EXPECT_EQ(report.exit_code(), kAllWell);
  report.fails_on_ambiguous = true;
  EXPECT_EQ(report.exit_code(), kVerdictFailed);
  EXPECT_EQ(outcome_text(report), "AMBIGUOUS");
  report.mark_failures();
  EXPECT_FALSE(report.items[0].is_regression);
  EXPECT_TRUE(report.items[1].is_regression);
}

// The order is: interrupt, failures, undecided items, nothing to judge, noise.
TEST(CheckReportExitCode, IsOfTheGravestCause) {
  CheckedItem unfinished = item(ChangeVerdict::ambiguous), noisy = unfinished;
  unfinished.is_unfinished = true;
  noisy.is_too_noisy = true;
  const CheckedItem same = item(ChangeVerdict::same), slower = item(ChangeVerdict::slower);
  EXPECT_EQ(report_of({same}).exit_code(), kAllWell);
  EXPECT_EQ(report_of({same, noisy}).exit_code(), kTooNoisy);
  EXPECT_EQ(report_of({same, waived(noisy)}).exit_code(), kAllWell);
  EXPECT_EQ(report_of({same, noisy, unfinished}).exit_code(), kCouldNotFinish);
  EXPECT_EQ(report_of({unfinished, slower}).exit_code(), kVerdictFailed);
  EXPECT_EQ(report_of({}).exit_code(), kNothingToJudge);
  EXPECT_EQ(report_of({item(ChangeVerdict::new_), item(ChangeVerdict::incomparable)}).exit_code(),
            kNothingToJudge);
  CheckReport interrupted = report_of({slower});
  interrupted.was_interrupted = true;
  EXPECT_EQ(interrupted.exit_code(), kCouldNotFinish);
  EXPECT_EQ(outcome_text(interrupted), "INTERRUPTED");
  CheckReport failed = report_of({same});
  failed.failures = {"a worker did not end"};
  EXPECT_EQ(failed.exit_code(), kCouldNotFinish);
}

// Failures come before items that the budget did not reach.
TEST(CheckReportReason, BeginsWithWhatWentWrong) {
  CheckedItem open = item(ChangeVerdict::ambiguous), lost = item(ChangeVerdict::error);
  open.is_unfinished = lost.is_unfinished = true;
  open.evidence = "not measured";
  lost.evidence = "was ended by signal 11";
  CheckReport report = report_of({open, lost});
  report.base_name = "old/opbench";
  EXPECT_THAT(reason_text(report), testing::StartsWith("ERROR "));
  EXPECT_THAT(
      reason_text(report),
      testing::EndsWith("was ended by signal 11; the baseline is 'old/opbench'; and 1 more"));
  report.failures = {"the end of a worker"};
  EXPECT_EQ(reason_text(report), "the end of a worker; and 2 more");
}

TEST(ChangeVerdictNames, AreThoseOfReports) {
  EXPECT_EQ(name(ChangeVerdict::slower), "SLOWER");
  EXPECT_EQ(name(ChangeVerdict::new_), "NEW");
  EXPECT_EQ(name(ChangeVerdict::error), "ERROR");
  CheckReport report = report_of({item(ChangeVerdict::same), item(ChangeVerdict::same)});
  EXPECT_EQ(report.count(ChangeVerdict::same), 2);
  EXPECT_EQ(report.count(ChangeVerdict::gone), 0);
}

}  // namespace opbench::check
