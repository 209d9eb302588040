#include "harness/check/report.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/program.h"
#include "tests/support/source_tree.h"

namespace opbench::check {
namespace {

using testing::HasSubstr;
using testing::Not;

CheckedItem item(const std::string& id, const std::string& variant, ChangeVerdict verdict,
                 double base_us = 0, double change = 0, int count = 1) {
  CheckedItem result;
  result.case_id = result.case_key = id;
  result.variant = variant;
  result.verdict = verdict;
  result.count = count;
  result.is_regression = verdict == ChangeVerdict::slower;
  result.evidence = "evidence of " + variant;
  result.next = "opbench --case '" + id + "'";
  if (base_us > 0) {
    SpeedChange speed;
    speed.base_us = base_us;
    speed.current_us = base_us * (1 + change);
    speed.change = change;
    result.speed = speed;
  }
  return result;
}

CheckReport sorted_report(std::vector<CheckedItem> items) {
  CheckReport report;
  report.mode = "gate";
  report.items = std::move(items);
  weigh_and_sort(report.items);
  return report;
}

template <class Write>
std::string written(Write write) {
  std::ostringstream out;
  write(out);
  return out.str();
}

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

}  // namespace

// A network of 3 x 100 us + 1 x 700 us = 1000 us; 10% of 3 x 100 us are 3% of it. With the slow
// variant b of the second case the network takes 3 x 100 + 1400 us; 5% of 1400 us are 4.12% of
// that.
TEST(CheckReport, SharesOfTheStepByHand) {
  const CheckReport report =
      sorted_report({item("a[1]", "a", ChangeVerdict::slower, 100, 0.10, 3),
                     item("b[1]", "a", ChangeVerdict::same, 700, 0.0, 1),
                     item("b[1]", "b", ChangeVerdict::slower, 1400, 0.05, 1)});
  ASSERT_EQ(report.items.size(), 3u);
  EXPECT_EQ(report.items[0].variant, "b") << "the most harm first";
  EXPECT_NEAR(*report.items[0].network_percent, 100 * 70.0 / 1700, 1e-9);
  EXPECT_NEAR(*report.items[1].network_percent, 3, 1e-9);
  EXPECT_NEAR(*report.items[2].network_percent, 0, 1e-9);
  EXPECT_NEAR(report.slower_percent(), 3 + 100 * 70.0 / 1700, 1e-9);
}

TEST(CheckReport, OfACaseTheWorstVariantCounts) {
  const CheckReport report = sorted_report({item("a[1]", "x", ChangeVerdict::slower, 100, 0.10),
                                            item("a[1]", "y", ChangeVerdict::slower, 100, 0.20)});
  EXPECT_NEAR(report.slower_percent(), 20, 1e-9);
}

TEST(CheckReport, ExitCodes) {
  const CheckedItem same = item("a[1]", "a", ChangeVerdict::same),
                    slower = item("b[1]", "a", ChangeVerdict::slower, 100, 0.1),
                    ambiguous = item("c[1]", "a", ChangeVerdict::ambiguous),
                    incomparable = item("d[1]", "a", ChangeVerdict::incomparable);
  CheckedItem lost = item("e[1]", "", ChangeVerdict::error);
  lost.is_unfinished = true;
  EXPECT_EQ(sorted_report({}).exit_code(), 4);
  EXPECT_EQ(sorted_report({incomparable, item("n[1]", "a", ChangeVerdict::new_)}).exit_code(), 4);
  EXPECT_EQ(sorted_report({same, ambiguous, incomparable}).exit_code(), 0);
  EXPECT_EQ(sorted_report({same, lost}).exit_code(), 3);
  EXPECT_EQ(sorted_report({same, lost, slower}).exit_code(), 1);
  CheckedItem noisy = ambiguous;
  noisy.is_too_noisy = true;
  EXPECT_EQ(sorted_report({same, noisy}).exit_code(), 5);
  EXPECT_EQ(sorted_report({same, noisy, lost}).exit_code(), 3);
  noisy.waived = WaivedBy{};
  EXPECT_EQ(sorted_report({same, noisy}).exit_code(), 0);
  CheckReport ended = sorted_report({same});
  ended.failures = {"a worker did not end"};
  EXPECT_EQ(ended.exit_code(), 3);
  CheckReport interrupted = sorted_report({same});
  interrupted.was_interrupted = true;
  EXPECT_EQ(interrupted.exit_code(), 3);
}

TEST(CheckReport, AWorkerThatDidNotEndWellIsAnErrorInEveryForm) {
  CheckReport report = sorted_report({item("a[1]", "a", ChangeVerdict::same)});
  report.failures = {"'other' was ended by signal 11"};
  EXPECT_THAT(written([&](std::ostream& out) { write_junit(out, report); }),
              HasSubstr("errors=\"1\""));
  for (const auto write : {write_markdown, print_annotations}) {
    EXPECT_THAT(written([&](std::ostream& out) { write(out, report); }),
                HasSubstr("was ended by signal 11"));
  }
  EXPECT_THAT(written([&](std::ostream& out) { print(out, report, {.width = 1000}, false); }),
              HasSubstr("was ended by signal 11"));
}

// Reasons for all codes from 2 on, with the remedy.
TEST(CheckReport, AReasonForEveryCodeThatIsNoVerdict) {
  const CheckedItem same = item("a[1]", "a", ChangeVerdict::same),
                    fresh = item("n[1]", "a", ChangeVerdict::new_);
  CheckedItem lost = item("e[1]", "v", ChangeVerdict::error),
              noisy = item("c[1]", "v", ChangeVerdict::ambiguous);
  lost.is_unfinished = noisy.is_too_noisy = true;
  EXPECT_EQ(reason_text(sorted_report({same})), "");
  EXPECT_EQ(reason_text(sorted_report({item("b[1]", "a", ChangeVerdict::slower, 100, 0.1)})), "");
  EXPECT_EQ(reason_text(sorted_report({same, lost, lost})),
            "ERROR v on e[1], 1 thread: evidence of v; and 1 more");
  EXPECT_THAT(reason_text(sorted_report({})), testing::StartsWith("no case is selected; "));
  EXPECT_EQ(reason_text(sorted_report({fresh})),
            "nothing to compare: no result of 1 is in both builds and correct in both");
  EXPECT_THAT(
      reason_text(sorted_report({same, noisy})),
      testing::StartsWith("nothing looks slower, but noise may hide a slowdown of 1 of 2; "));
}

TEST(CheckReport, FailOverCountsTheStepAndNotTheCase) {
  CheckedItem slower = item("b[1]", "a", ChangeVerdict::slower, 100, 0.1);
  slower.is_regression = false;  // the gate leaves it like this then
  CheckReport report = sorted_report({slower, item("a[1]", "a", ChangeVerdict::same, 900)});
  report.fail_over_percent = 1.5;  // 10 of 1000 us are 1%
  EXPECT_EQ(report.exit_code(), 0);
  report.fail_over_percent = 0.5;
  EXPECT_EQ(report.exit_code(), 1);
}

// JUnit, annotations and JSON agree with the exit code.
TEST(CheckReport, WhatFailsTogetherFailsInEveryForm) {
  CheckReport report = sorted_report({item("relu[1]", "v", ChangeVerdict::slower, 100, 0.5),
                                      item("relu[2]", "v", ChangeVerdict::ambiguous, 100, 0.1)});
  for (CheckedItem& each : report.items) each.is_regression = false;
  report.fail_over_percent = 90;
  report.mark_failures();
  EXPECT_EQ(report.exit_code(), kAllWell);
  report.fail_over_percent = 10;
  report.mark_failures();
  EXPECT_EQ(report.exit_code(), kVerdictFailed);
  EXPECT_THAT(written([&](std::ostream& out) { write_junit(out, report); }),
              HasSubstr("failures=\"1\""));
  CheckReport open = sorted_report({item("relu[2]", "v", ChangeVerdict::ambiguous, 100, 0.1)});
  open.fails_on_ambiguous = true;
  open.mark_failures();
  EXPECT_EQ(open.exit_code(), kVerdictFailed);
  EXPECT_EQ(outcome_text(open), "AMBIGUOUS") << "marked as failed, and no regression";
  report.fails_on_ambiguous = true;
  report.mark_failures();
  EXPECT_THAT(written([&](std::ostream& out) { write_junit(out, report); }),
              HasSubstr("failures=\"2\""));
}

TEST(CheckReport, ConsoleShowsWhatNeedsActionOnly) {
  const CheckReport report = sorted_report({item("a[1]", "quiet", ChangeVerdict::same, 10),
                                            item("b[1]", "loud", ChangeVerdict::slower, 10, 0.2)});
  const std::string text =
      written([&](std::ostream& out) { print(out, report, {.width = 1000}, false); });
  EXPECT_THAT(text, testing::StartsWith("REGRESSION: 1 SLOWER, 1 SAME"));
  EXPECT_THAT(text, HasSubstr("next: opbench --case 'b[1]'"));
  EXPECT_THAT(text, Not(HasSubstr("quiet")));
  EXPECT_THAT(written([&](std::ostream& out) { print(out, report, {.width = 1000}, true); }),
              HasSubstr("quiet"));
}

TEST(CheckReport, JsonHoldsEverything) {
  CheckReport report = sorted_report({item("b[1]", "loud", ChangeVerdict::slower, 10, 0.25)});
  report.command = "opbench check \"x\"\n";
  const auto json =
      nlohmann::json::parse(written([&](std::ostream& out) { write_json(out, report, {}); }));
  EXPECT_EQ(json["opbench_check"], kReportVersion);
  EXPECT_EQ(json["exit_code"], 1);
  EXPECT_EQ(json["outcome"], "REGRESSION");
  EXPECT_EQ(json["command"], report.command);
  EXPECT_EQ(json["counts"]["SLOWER"], 1);
  EXPECT_EQ(json["counts"]["SAME"], 0);
  EXPECT_EQ(json["items"][0]["verdict"], "SLOWER");
  EXPECT_EQ(json["items"][0]["speed"]["change_percent"], 25);
  EXPECT_EQ(json["items"][0]["base_accuracy"], nullptr);
}

TEST(CheckReport, JsonHasTheTimesOfEveryRoundByStage) {
  CheckedItem timed = item("b[1]", "loud", ChangeVerdict::slower, 10, 0.25);
  timed.times.screening.add(10, 12.5, 0);
  timed.times.screening.add(11, 13, 0);
  timed.times.verdict.add(10, 12, 3);
  const CheckReport report = sorted_report({timed, item("a[1]", "gone", ChangeVerdict::gone)});
  const auto json =
      nlohmann::json::parse(written([&](std::ostream& out) { write_json(out, report, {}); }));
  EXPECT_EQ(json["items"][0]["rounds"], nlohmann::json::parse(R"({
      "screening": {"pair": [0, 0], "base_us": [10, 11], "current_us": [12.5, 13]},
      "verdict": {"pair": [3], "base_us": [10], "current_us": [12]}})"));
  EXPECT_EQ(json["items"][1]["rounds"], nullptr);
}

TEST(CheckReport, JUnitIsWellFormedWhateverTheTexts) {
  CheckedItem hostile = item("a[1]", "<&\"'>]]>", ChangeVerdict::ambiguous);
  hostile.evidence = "control \x01 and <tags> & \"quotes\"";
  hostile.notices = {"first", "second"};
  CheckedItem lost = item("e[1]", "", ChangeVerdict::error);
  lost.is_unfinished = true;
  const CheckReport report =
      sorted_report({item("b[1]", "loud", ChangeVerdict::slower, 10, 0.2), hostile, lost,
                     item("c[1]", "v", ChangeVerdict::same, 1)});
  const std::string xml = written([&](std::ostream& out) { write_junit(out, report); });
  EXPECT_THAT(
      xml, HasSubstr("<testsuites name=\"opbench\" tests=\"4\" failures=\"1\" errors=\"1\" time="));
  EXPECT_EQ(occurrences(xml, "<testcase "), 4u);
  EXPECT_THAT(xml, HasSubstr("next: opbench --case 'b[1]'"));
  const TempDir dir;
  const std::string parse =
      "python3 -c 'import sys, xml.etree.ElementTree as t; t.parse(sys.argv[1])' ";
  EXPECT_EQ(shell(parse + dir.write("junit.xml", xml)).code, 0) << xml;
}

// The names are those of `opbench run --junit`, so that a CI system shows a single history.
TEST(CheckReport, JUnitFollowsJenkinsSchemaAndNamesTestsAsARunDoes) {
  CheckedItem lost = item("e[1]", "", ChangeVerdict::error);
  lost.is_unfinished = true;
  CheckedItem cold = item("relu[64,fp32]", "native", ChangeVerdict::same, 1e10);
  cold.threads = 2;
  cold.cold = true;
  const CheckReport report =
      sorted_report({item("relu[64,fp32]", "native", ChangeVerdict::slower, 10, 0.2), cold, lost,
                     item("a[1]", "v", ChangeVerdict::incomparable)});
  const std::string xml = written([&](std::ostream& out) { write_junit(out, report); });
  const TempDir dir;
  const Outcome checked = shell("python3 " + source_file("tests/text/junit_rules.py") + " " +
                                dir.write("junit.xml", xml));
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_EQ(checked.out,
            "opbench.relu relu[64,fp32]/native/threads:1\n"
            "opbench.relu relu[64,fp32]/native/threads:2/cold\n"
            "opbench.e e[1]/threads:1\nopbench.a a[1]/v/threads:1\n");
}

TEST(CheckReport, MarkdownFoldsWhatIsMoreThanTenRows) {
  std::vector<CheckedItem> items;
  for (int i = 0; i < 13; ++i) {
    items.push_back(item("a[" + std::to_string(i) + "]", "v|x", ChangeVerdict::slower, 10, 0.2));
  }
  items.push_back(item("b[1]", "same", ChangeVerdict::same, 10));
  const CheckReport report = sorted_report(items);
  const std::string text = written([&](std::ostream& out) { write_markdown(out, report); });
  const std::string visible = text.substr(0, text.find("<details>"));
  EXPECT_EQ(occurrences(visible, "| SLOWER |"), 10u);
  EXPECT_THAT(text, HasSubstr("<summary>3 more</summary>"));
  EXPECT_THAT(text, HasSubstr("<summary>1 the same</summary>"));
  EXPECT_THAT(text, HasSubstr("v\\|x")) << "a bar would end the cell";
}

TEST(CheckReport, AnnotationsAreOneLineEach) {
  CheckedItem slower = item("b[1,2]", "v", ChangeVerdict::slower, 10, 0.2);
  slower.evidence = "50% slower\n::add-mask::x";
  const std::string text =
      written([&](std::ostream& out) { print_annotations(out, sorted_report({slower})); });
  EXPECT_EQ(
      text,
      "::error title=SLOWER v on b[1%2C2]%2C 1 thread::50%25 slower\\x0a::add-mask::x%0Aopbench "
      "--case 'b[1,2]'\n");
}

TEST(CheckReport, NoMoreThanTenAnnotationsOfAKind) {
  std::vector<CheckedItem> items;
  for (int i = 0; i < 20; ++i) {
    items.push_back(item("a[" + std::to_string(i) + "]", "v", ChangeVerdict::slower, 10, 0.2));
    items.push_back(item("a[" + std::to_string(i) + "]", "w", ChangeVerdict::ambiguous, 10, 0.2));
  }
  const std::string text =
      written([&](std::ostream& out) { print_annotations(out, sorted_report(items)); });
  EXPECT_EQ(occurrences(text, "::error "), 10u);
  EXPECT_EQ(occurrences(text, "::warning "), 10u);
}

}  // namespace opbench::check
