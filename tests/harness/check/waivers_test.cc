#include "harness/check/waivers.h"

#include <gmock/gmock.h>

#include <sstream>

#include "harness/check/report.h"
#include "tests/support/refusal.h"

namespace opbench::check {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kToday = "2026-06-15";

std::string refusal_of(const std::string& text) {
  return refusal_by([&] { parse_waivers(text, "w.yaml"); });
}

/// A file with one waiver.
std::string file(const std::string& id, const std::string& allow,
                 const std::string& expires = "2026-12-31", const std::string& more = "") {
  return "waivers:\n  - {id: '" + id + "', reason: the reason, expires: " + expires +
         ", allow: " + allow + more + "}\n";
}

CheckedItem slower(const std::string& id, const std::string& variant, double change) {
  CheckedItem item;
  item.case_id = item.case_key = id;
  item.variant = variant;
  item.verdict = ChangeVerdict::slower;
  item.is_regression = true;
  SpeedChange speed;
  speed.base_us = 100;
  speed.current_us = 100 * (1 + change);
  speed.change = change;
  item.speed = speed;
  return item;
}

CheckedItem with_errors(double base_ulp, double current_ulp, double base_abs, double current_abs) {
  CheckedItem item;
  item.case_id = "sum[8,fp32]";
  item.variant = "native";
  item.verdict = ChangeVerdict::error;
  item.is_regression = item.is_error_growth = true;
  item.evidence = "its error grew";
  item.base_accuracy = Accuracy{.max_ulp = base_ulp, .mean_ulp = 0.1, .max_abs = base_abs};
  item.current_accuracy = Accuracy{.max_ulp = current_ulp, .mean_ulp = 0.1, .max_abs = current_abs};
  return item;
}

CheckReport waived(std::vector<CheckedItem> items, const std::string& text,
                   const char* today = kToday) {
  CheckReport report;
  report.items = std::move(items);
  apply_waivers(report, parse_waivers(text, "w.yaml"), today);
  return report;
}

}  // namespace

TEST(Waivers, AFileIsRead) {
  const std::vector<Waiver> waivers = parse_waivers(R"(# intended
waivers:
  - id: '^softplus\['
    variant: native
    reason: oneTBB splits otherwise
    expires: 2026-12-31
    allow: {slower: 12.5, error: 4}
  - {id: relu, reason: removed, expires: 2024-02-29, allow: {gone: true}}
)",
                                                    "w.yaml");
  ASSERT_EQ(waivers.size(), 2u);
  EXPECT_EQ(waivers[0].place, "w.yaml:3");
  EXPECT_TRUE(waivers[0].matches("softplus[8]"));
  EXPECT_FALSE(waivers[0].matches("no softplus[8]"));
  EXPECT_EQ(waivers[0].variant, "native");
  EXPECT_EQ(waivers[0].reason, "oneTBB splits otherwise");
  EXPECT_EQ(waivers[0].expires, "2026-12-31");
  EXPECT_EQ(waivers[0].slower_percent, 12.5);
  EXPECT_EQ(waivers[0].error_factor, 4);
  EXPECT_FALSE(waivers[0].allows_gone);
  EXPECT_EQ(waivers[1].place, "w.yaml:8");
  EXPECT_EQ(waivers[1].slower_percent, std::nullopt);
  EXPECT_TRUE(waivers[1].allows_gone);
  EXPECT_THAT(parse_waivers("", "w.yaml"), IsEmpty());
  EXPECT_THAT(parse_waivers("waivers: []", "w.yaml"), IsEmpty());
}

TEST(Waivers, WhatIsWrongIsNamedWithItsLine) {
  const struct {
    std::string text, expected;
  } kRefused[] = {
      {"- a\n", "w.yaml:1: the file is a list; it must be a mapping"},
      {"wavers: []\n", "w.yaml:1: "},
      {"waivers: soon\n", "w.yaml:1: waivers is 'soon'; it must be a list"},
      {"waivers:\n  - {id: a, reason: b, expires: 2026-12-31}\n",
       "w.yaml:2: a waiver has no 'allow'"},
      {"waivers:\n  - {reason: b, expires: 2026-12-31, allow: {slower: 5}}\n",
       "w.yaml:2: a waiver has no 'id'"},
      {"waivers:\n  - {id: a, expires: 2026-12-31, allow: {slower: 5}}\n",
       "w.yaml:2: a waiver has no 'reason'"},
      {"waivers:\n  - {id: a, reason: b, allow: {slower: 5}}\n",
       "w.yaml:2: a waiver has no 'expires'"},
      {"waivers:\n  - id: a\n    reason: ''\n", "w.yaml:3: reason is empty"},
      {"waivers:\n  - {id: a, for: ever}\n", "w.yaml:2: "},
      {"waivers:\n  - {id: a, id: b}\n", "w.yaml:2: key 'id' of a waiver occurs twice"},
      {file("(", "{slower: 5}"), "w.yaml:2: id "},
      {file("a", "{}"),
       "w.yaml:2: allow allows nothing; it needs slower: PERCENT, error: FACTOR or gone: true"},
      {file("a", "{gone: false}"), "w.yaml:2: allow allows nothing"},
      {file("a", "{slower: .inf}"),
       "w.yaml:2: slower, percent is '.inf'; it must be a number from 0.1 to 1000"},
      {file("a", "{slower: -1}"), "w.yaml:2: slower, percent is '-1'"},
      {file("a", "{error: 0.5}"), "w.yaml:2: error, a factor is '0.5'"},
      {file("a", "{gone: maybe}"), "w.yaml:2: gone is 'maybe'; it must be true or false"},
      {file("a", "10"), "w.yaml:2: allow is '10'; it must be a mapping"},
  };
  for (const auto& [text, expected] : kRefused) {
    EXPECT_THAT(refusal_of(text), testing::StartsWith(expected)) << text;
    EXPECT_THAT(refusal_of(text), Not(HasSubstr("\n"))) << text;
  }
  for (const std::string date : {"2026-02-29", "2026-13-01", "2026-1-1", "tomorrow",
                                 "2026-12-31T00", "20261231", "2026/12/31", "+026-12-31", "''"}) {
    EXPECT_THAT(refusal_of(file("a", "{slower: 5}", date)),
                HasSubstr("; it must be a day: 2026-12-31"))
        << date;
  }
}

TEST(Waivers, ThereIsAnEndToTheirNumber) {
  std::string text = "waivers:\n";
  for (int i = 0; i < 1001; ++i) {
    text += "  - {id: a, reason: b, expires: 2026-12-31, allow: {gone: true}}\n";
  }
  EXPECT_EQ(refusal_of(text), "w.yaml:2: there are 1001 waivers; at most 1000 are allowed");
}

TEST(Waivers, ASlowdownUpToWhatIsAllowedPasses) {
  const std::string text = file("^softplus", "{slower: 10}");
  const CheckReport report = waived({slower("softplus[8]", "native", 0.10)}, text);
  EXPECT_EQ(report.exit_code(), 0);
  ASSERT_TRUE(report.items[0].waived.has_value());
  EXPECT_EQ(waived_text(report.items[0]), "waived until 2026-12-31: the reason (w.yaml:2)");
  EXPECT_EQ(report.items[0].verdict, ChangeVerdict::slower) << "it is what it is";
  EXPECT_THAT(report.notices, IsEmpty());

  const CheckReport beyond = waived({slower("softplus[8]", "native", 0.142)}, text);
  EXPECT_EQ(beyond.exit_code(), 1);
  EXPECT_THAT(beyond.items[0].notices,
              ElementsAre("w.yaml:2 allows 10% slower, and this is +14.2%: the reason"));
}

// Takes twice the time in 3 of 10 processes, which the median does not show.
TEST(Waivers, ASlowdownOfSomeProcessesIsHeldToTheSame) {
  CheckedItem sometimes = slower("softplus[8]", "native", 0.0);
  for (int pair = 0; pair < 20; ++pair) {
    sometimes.times.verdict.add(100, pair % 10 < 3 ? 200 : 100, pair);
  }
  const CheckReport report = waived({sometimes}, file("softplus", "{slower: 50}"));
  EXPECT_EQ(report.exit_code(), 1);
  EXPECT_THAT(report.items[0].notices,
              ElementsAre("w.yaml:2 allows 50% slower, and this is more in some processes: the "
                          "reason"));
  EXPECT_EQ(waived({sometimes}, file("softplus", "{slower: 110}")).exit_code(), 0);
}

// 9 % slower everywhere, with 8 to 12 % in single processes: the allowed 10 % cover this.
TEST(Waivers, NoiseAroundWhatIsAllowedIsNoSlowdownOfSomeProcesses) {
  CheckedItem noisy = slower("softplus[8]", "native", 0.09);
  noisy.threshold = 0.05;
  for (int pair = 0; pair < 20; ++pair) {
    const double us[] = {108, 109, 109, 112};
    noisy.times.verdict.add(100, us[pair % 4], pair);
  }
  EXPECT_EQ(waived({noisy}, file("softplus", "{slower: 10}")).exit_code(), 0);
}

TEST(Waivers, WhatIsNotDecidedPassesWhereTheWorstOfItIsAllowed) {
  CheckedItem open = slower("softplus[8]", "native", 0.05);
  open.verdict = ChangeVerdict::ambiguous;
  open.is_regression = false;
  open.is_unfinished = true;
  open.speed->interval = {-0.01, 0.12};
  EXPECT_EQ(waived({open}, file("softplus", "{slower: 11}")).exit_code(), 3);
  EXPECT_EQ(waived({open}, file("softplus", "{slower: 12}")).exit_code(), 0);
  open.is_unfinished = false;
  CheckReport strict;
  strict.items = {open};
  strict.fails_on_ambiguous = true;
  EXPECT_EQ(strict.exit_code(), 1);
  apply_waivers(strict, parse_waivers(file("softplus", "{slower: 12}"), "w.yaml"), kToday);
  EXPECT_EQ(strict.exit_code(), 0);
}

TEST(Waivers, OnlyTheirVariantAndCaseAreCovered) {
  const std::string text = file("^softplus", "{slower: 50}", "2026-12-31", ", variant: native");
  const CheckReport report =
      waived({slower("softplus[8]", "native", 0.2), slower("softplus[8]", "softplus_v2", 0.2),
              slower("relu[8]", "native", 0.2)},
             text);
  EXPECT_EQ(report.exit_code(), 1);
  for (const CheckedItem& item : report.items) {
    EXPECT_EQ(item.waived.has_value(), item.case_id == "softplus[8]" && item.variant == "native");
    EXPECT_NE(item.is_regression, item.waived.has_value());
  }
  EXPECT_TRUE(report.items[0].is_regression && report.items[1].is_regression) << "these come first";

  CheckedItem named = slower("relu[8]", "native", 0.2);
  named.case_name = "softplus_and_more";
  EXPECT_EQ(waived({named}, text).exit_code(), 0) << "names are searched as well";
}

TEST(Waivers, TheDayThatTheyExpireIsTheirLast) {
  const std::string text = file("softplus", "{slower: 50}", "2026-06-15");
  const std::vector<CheckedItem> items = {slower("softplus[8]", "native", 0.2)};
  EXPECT_EQ(waived(items, text, "2026-06-15").exit_code(), 0);
  const CheckReport late = waived(items, text, "2026-06-16");
  EXPECT_EQ(late.exit_code(), 1);
  EXPECT_THAT(late.notices,
              ElementsAre("w.yaml:2: the waiver of 'softplus' expired on 2026-06-15 and covers "
                          "nothing: the reason"));
}

TEST(Waivers, OneThatMatchesNothingIsNamed) {
  const CheckReport report = waived({slower("relu[8]", "native", 0.2)},
                                    file("softplus", "{slower: 50}", "2026-12-31", ", variant: x"));
  EXPECT_THAT(report.notices,
              ElementsAre("w.yaml:2: the waiver of 'softplus' on 'x' matches nothing that was "
                          "compared"));
}

// Twice the error of 3 ULP plus the one ULP that is always allowed: 7.
TEST(Waivers, GrownErrorsUpToTheFactorPass) {
  const std::string text = file("sum", "{error: 2}");
  EXPECT_EQ(waived({with_errors(3, 7, 1e-6, 2e-6)}, text).exit_code(), 0);
  EXPECT_EQ(waived({with_errors(0, 1, 0, 1e-9)}, text).exit_code(), 0);
  for (const CheckedItem& item :
       {with_errors(3, 7.5, 1e-6, 1e-6), with_errors(3, 7, 1e-6, 2.1e-6)}) {
    const CheckReport report = waived({item}, text);
    EXPECT_EQ(report.exit_code(), 1);
    ASSERT_EQ(report.items[0].notices.size(), 1u);
    EXPECT_EQ(report.items[0].notices[0],
              "w.yaml:2 allows errors 2 times as large, and its error grew: the reason");
  }
  CheckedItem outside = with_errors(3, 7, 1e-6, 2e-6);
  outside.current_accuracy->inside_share = 0.9;
  EXPECT_EQ(waived({outside}, text).exit_code(), 1);
  CheckedItem tolerance = with_errors(3, 7, 1e-6, 2e-6);
  tolerance.base_accuracy->min_tolerance = 1e-6;
  tolerance.current_accuracy->min_tolerance = 3e-6;
  EXPECT_EQ(waived({tolerance}, text).exit_code(), 1);
  EXPECT_EQ(waived({with_errors(3, 7, 1e-6, 2e-6)}, file("sum", "{slower: 50}")).exit_code(), 1);
}

// Wrong results, lost workers and additional conversions cannot be waived.
TEST(Waivers, WhatIsWrongHasNone) {
  CheckedItem wrong = with_errors(3, 3, 1e-6, 1e-6);
  wrong.is_error_growth = false;
  const CheckReport report =
      waived({wrong}, file("sum", "{error: 1000000, slower: 1000, gone: true}"));
  EXPECT_EQ(report.exit_code(), 1);
  EXPECT_FALSE(report.items[0].waived.has_value());
}

TEST(Waivers, WhatIsGoneNeedsItsOwnWord) {
  CheckedItem gone;
  gone.case_id = "relu[8]";
  gone.verdict = ChangeVerdict::gone;
  gone.is_regression = true;
  EXPECT_EQ(waived({gone}, file("relu", "{slower: 1000, error: 1000}")).exit_code(), 1);
  EXPECT_EQ(waived({gone}, file("relu", "{gone: true}")).exit_code(), 0);
}

TEST(Waivers, TheFirstThatCoversCounts) {
  const CheckReport report = waived({slower("relu[8]", "native", 0.2)}, R"(waivers:
  - {id: relu, reason: too little, expires: 2026-12-31, allow: {slower: 10}}
  - {id: relu, reason: enough, expires: 2026-12-31, allow: {slower: 20}}
  - {id: relu, reason: later, expires: 2026-12-31, allow: {slower: 30}}
)");
  EXPECT_EQ(report.items[0].waived->reason, "enough");
  EXPECT_EQ(report.exit_code(), 0);
}

// With --fail-over the sum fails. 20% of a network of one case are waived.
TEST(Waivers, WhatIsWaivedDoesNotAddToTheNetwork) {
  CheckedItem item = slower("relu[8]", "native", 0.2);
  item.is_regression = false;
  CheckReport report;
  report.items = {item};
  report.fail_over_percent = 1;
  weigh_and_sort(report.items);
  EXPECT_EQ(report.exit_code(), 1);
  apply_waivers(report, parse_waivers(file("relu", "{slower: 30}"), "w.yaml"), kToday);
  EXPECT_EQ(report.slower_percent(), 0);
  EXPECT_EQ(report.exit_code(), 0);
}

TEST(Waivers, EveryReportSaysWhy) {
  const CheckReport report =
      waived({slower("relu[8]", "native", 0.2)}, file("relu", "{slower: 30}"));
  const auto written = [&](const auto& write) {
    std::ostringstream out;
    write(out);
    return out.str();
  };
  const std::string why = "waived until 2026-12-31: the reason (w.yaml:2)";
  EXPECT_THAT(written([&](std::ostream& out) { print(out, report, {.width = 1000}, false); }),
              testing::AllOf(testing::StartsWith("No regression: 1 SLOWER; 1 waived ("),
                             HasSubstr("\n             " + why + "\n")));
  const std::string xml = written([&](std::ostream& out) { write_junit(out, report); });
  EXPECT_THAT(xml, testing::AllOf(HasSubstr("<skipped message=\"SLOWER: "), HasSubstr(why),
                                  HasSubstr("failures=\"0\"")));
  EXPECT_THAT(written([&](std::ostream& out) { write_markdown(out, report); }),
              testing::AllOf(HasSubstr("SLOWER, waived"), HasSubstr("the reason")));
  EXPECT_THAT(written([&](std::ostream& out) { write_json(out, report, {}); }),
              HasSubstr(R"("place": "w.yaml:2")"));
  EXPECT_EQ(written([&](std::ostream& out) { print_annotations(out, report); }), "");
}

}  // namespace opbench::check
