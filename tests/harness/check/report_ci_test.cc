// Tests annotations, JUnit and Markdown of a check: the form of each verdict in a CI system.
#include <gmock/gmock.h>

#include <sstream>

#include "harness/check/report.h"

namespace opbench::check {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

CheckedItem relu_item(ChangeVerdict verdict) {
  CheckedItem one;
  one.case_id = one.case_key = "relu[64]";
  one.variant = "native";
  one.verdict = verdict;
  one.evidence = "why";
  return one;
}

template <class Write>
std::string written(Write write, const std::vector<CheckedItem>& items) {
  CheckReport report;
  report.mode = "gate";
  report.items = items;
  std::ostringstream out;
  write(out, report);
  return out.str();
}

std::string junit(const CheckedItem& one) {
  return written([](std::ostream& out, const CheckReport& report) { write_junit(out, report); },
                 {one});
}
std::string annotations(const std::vector<CheckedItem>& items) {
  return written(print_annotations, items);
}
std::string markdown(const std::vector<CheckedItem>& items) {
  return written(write_markdown, items);
}

CheckedItem regression() {
  CheckedItem one = relu_item(ChangeVerdict::slower);
  one.is_regression = true;
  one.speed = SpeedChange{};
  return one;
}

CheckedItem unfinished() {
  CheckedItem one = relu_item(ChangeVerdict::ambiguous);
  one.is_unfinished = true;
  return one;
}

CheckedItem waived() {
  CheckedItem one = relu_item(ChangeVerdict::slower);
  one.waived = WaivedBy{"waivers.yaml:3", "known", "2030-01-01"};
  return one;
}

}  // namespace

// Elements of the test case: <failure>, <error>, <skipped>, or no element if it passed.
TEST(ReportCi, JUnitHasAnOutcomeForEachVerdict) {
  EXPECT_THAT(junit(regression()), HasSubstr("<failure "));
  EXPECT_THAT(junit(unfinished()), HasSubstr("<error "));
  for (const ChangeVerdict verdict : {ChangeVerdict::ambiguous, ChangeVerdict::incomparable}) {
    EXPECT_THAT(junit(relu_item(verdict)), HasSubstr("<skipped "));
  }
  EXPECT_THAT(junit(waived()), HasSubstr("<skipped "));
  for (const ChangeVerdict verdict :
       {ChangeVerdict::same, ChangeVerdict::faster, ChangeVerdict::new_}) {
    const std::string xml = junit(relu_item(verdict));
    EXPECT_THAT(xml, Not(HasSubstr("<failure "))) << name(verdict);
    EXPECT_THAT(xml, Not(HasSubstr("<error "))) << name(verdict);
    EXPECT_THAT(xml, Not(HasSubstr("<skipped "))) << name(verdict);
  }
}

// 2500000 us are 2.5 s. The first call has a history of its own.
TEST(ReportCi, JUnitHasTheTimeOfThisBuild) {
  CheckedItem one = relu_item(ChangeVerdict::same);
  one.speed = SpeedChange{};
  one.speed->base_us = 1;
  one.speed->current_us = 2'500'000;
  one.is_first_call = true;
  EXPECT_THAT(junit(one), HasSubstr("relu[64]/native/threads:1/first_call"));
  EXPECT_THAT(junit(one), HasSubstr("time=\"2.5"));
}

TEST(ReportCi, JUnitKeepsNoticesAndTheNextCommand) {
  CheckedItem one = regression();
  one.notices = {"other bits"};
  one.next = "opbench check --again";
  EXPECT_THAT(junit(one), HasSubstr("SLOWER: why"));
  EXPECT_THAT(junit(one), HasSubstr("note: other bits"));
  EXPECT_THAT(junit(one), HasSubstr("next: opbench check --again"));
  EXPECT_THAT(junit(waived()), HasSubstr("waivers.yaml:3"));
}

// A regression is an error, an undecided item a warning. Settled items have no annotation.
TEST(ReportCi, AnnotationsAreOfWhatNeedsAction) {
  EXPECT_THAT(annotations({regression()}), StartsWith("::error title=SLOWER native on relu[64]"));
  EXPECT_THAT(annotations({unfinished()}), StartsWith("::warning title=AMBIGUOUS "));
  CheckedItem noisy = relu_item(ChangeVerdict::ambiguous);
  EXPECT_THAT(annotations({noisy, relu_item(ChangeVerdict::same)}),
              Not(HasSubstr("title=AMBIGUOUS")))
      << "it was not timed";
  noisy.speed = SpeedChange{};
  EXPECT_THAT(annotations({noisy}), StartsWith("::warning title=AMBIGUOUS "));
  EXPECT_EQ(annotations({relu_item(ChangeVerdict::same)}), "");
  EXPECT_EQ(annotations({waived(), relu_item(ChangeVerdict::same)}), "");
}

// A percent sign is %25. In titles ':' and ',' are %3A and %2C. A line break is %0A.
TEST(ReportCi, AnnotationsEscapeWhatWouldEndThem) {
  CheckedItem one = regression();
  one.variant = "mine:v2";
  one.evidence = "5% slower: why, then";
  one.next = "run it";
  const std::string text = annotations({one});
  EXPECT_THAT(text, HasSubstr("SLOWER mine%3Av2 on relu[64]%2C 1 thread::"));
  EXPECT_THAT(text, HasSubstr("::5%25 slower: why, then%0Arun it\n"));
}

TEST(ReportCi, MarkdownBeginsWithAMarkOfTheOutcome) {
  EXPECT_THAT(markdown({relu_item(ChangeVerdict::same)}), StartsWith("### :white_check_mark: "));
  EXPECT_THAT(markdown({regression()}), StartsWith("### :x: "));
  EXPECT_THAT(markdown({unfinished(), relu_item(ChangeVerdict::same)}),
              StartsWith("### :warning: "));
}

// Variants that are the same are folded, even if there is room for more rows.
TEST(ReportCi, MarkdownShowsWhatIsNotTheSame) {
  CheckedItem slower = regression();
  slower.network_percent = 1.234;
  slower.next = "opbench check --again";
  const std::string text = markdown({slower, waived(), relu_item(ChangeVerdict::same)});
  const std::string visible = text.substr(0, text.find("<details>"));
  EXPECT_THAT(visible, HasSubstr("| +1.23% |"));
  EXPECT_THAT(visible, HasSubstr("| SLOWER, waived |"));
  EXPECT_THAT(visible, HasSubstr("opbench check --again"));
  EXPECT_THAT(visible, Not(HasSubstr("| SAME |")));
  EXPECT_THAT(text, HasSubstr("<summary>1 the same</summary>"));
  EXPECT_THAT(text, Not(HasSubstr("more</summary>")));
}

}  // namespace opbench::check
