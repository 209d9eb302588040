#include "harness/check/history.h"

#include <gmock/gmock.h>

#include <sstream>
#include <thread>

#include "harness/check/trend.h"
#include "tests/support/refusal.h"
#include "tests/support/temp_dir.h"

namespace opbench::check {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Machine machine(const std::string& cpu = "a cpu",
                const std::string& date = "2026-06-01T00:00:00Z") {
  Machine result;
  result.cpu = cpu;
  result.cores = 2;
  result.isa = "AVX2";
  result.governor = result.turbo = "unknown";
  result.build_type = "Release";
  result.date = date;
  return result;
}

CheckReport report_with(double us, ChangeVerdict verdict = ChangeVerdict::same,
                        const std::string& revision = "abc") {
  CheckedItem item;
  item.case_id = item.case_key = "relu[8]";
  item.variant = "native";
  item.verdict = verdict;
  SpeedChange speed;
  speed.base_us = 10;
  speed.current_us = us;
  item.speed = speed;
  CheckReport report;
  report.current.revision = revision;
  report.items = {item};
  return report;
}

std::string date_of(int day) {
  return "2026-06-" + std::string(day < 10 ? "0" : "") + std::to_string(day) + "T00:00:00Z";
}

/// A run per day with these times, and SLOWER on some days.
std::string history_of(const std::vector<double>& times, const std::vector<int>& slower = {},
                       const std::string& cpu = "a cpu") {
  std::string text;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const int day = static_cast<int>(i) + 1;
    const bool is_slower = std::find(slower.begin(), slower.end(), day) != slower.end();
    text +=
        history_line(report_with(times[i], is_slower ? ChangeVerdict::slower : ChangeVerdict::same,
                                 "r" + std::to_string(day)),
                     machine(cpu, date_of(day)));
  }
  return text;
}

std::vector<Trend> trends_in(const std::string& text) {
  return trends_of(parse_history(text, "h"));
}

std::string markdown_of(const std::string& text) {
  std::ostringstream out;
  write_trends(out, parse_history(text, "h"));
  return out.str();
}

const std::vector<double> kStep = {10, 10.1, 9.9, 10, 10.1, 9.9, 12, 12.1, 11.9, 12, 12.1, 11.9};

}  // namespace

TEST(CheckHistory, WhatIsWrittenIsReadBack) {
  CheckReport report = report_with(12.5, ChangeVerdict::slower);
  report.base.revision = "base\n\"1\"";
  report.items[0].waived = WaivedBy{"w:1", "reason", "2026-12-31"};
  const std::string line = history_line(report, machine());
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  EXPECT_EQ(line.back(), '\n');
  const History history = parse_history(line, "h");
  ASSERT_EQ(history.runs.size(), 1u);
  const PastRun& run = history.runs[0];
  EXPECT_EQ(run.date, "2026-06-01T00:00:00Z");
  EXPECT_EQ(run.base, report.base.revision);
  EXPECT_EQ(run.current, "abc");
  ASSERT_EQ(run.items.size(), 1u);
  EXPECT_EQ(run.items[0].key, "relu[8]");
  EXPECT_EQ(run.items[0].variant, "native");
  EXPECT_EQ(run.items[0].verdict, "SLOWER");
  EXPECT_TRUE(run.items[0].is_waived);
  EXPECT_EQ(run.items[0].base_us, 10);
  EXPECT_EQ(run.items[0].current_us, 12.5);
}

TEST(CheckHistory, ATornLineCostsThatLineOnly) {
  const std::string line = history_line(report_with(1), machine());
  const std::string torn = line.substr(0, line.size() / 2);
  for (const std::string& text : {line + torn, torn + "\n" + line, line + "\n" + torn}) {
    const History history = parse_history(text, "h.jsonl");
    EXPECT_EQ(history.runs.size(), 1u);
    ASSERT_EQ(history.notices.size(), 1u);
    EXPECT_THAT(history.notices[0], testing::StartsWith("left out: h.jsonl:"));
  }
}

TEST(CheckHistory, ALineThatIsNoRunIsRefusedWithItsPlace) {
  const std::string line = history_line(report_with(1), machine());
  const auto refusal = [](const std::string& text) {
    return bad_input_by([&] { parse_history(text, "h.jsonl"); });
  };
  EXPECT_THAT(refusal(line + "[]\n"), testing::StartsWith("h.jsonl:2: "));
  EXPECT_THAT(refusal(line + "{\"opbench_history\": 2}\n"),
              HasSubstr("it is of another version; this opbench reads 1"));
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"\"current_us\":1.0", "\"current_us\":-1.0"},
           {"\"threads\":1", "\"threads\":0"},
           {"\"verdict\":\"SAME\"", "\"verdict\":7"},
           {"\"cores\":2", "\"cores\":\"two\""}}) {
    std::string broken = line;
    ASSERT_NE(broken.find(from), std::string::npos) << from;
    broken.replace(broken.find(from), from.size(), to);
    EXPECT_THAT(refusal(broken), testing::StartsWith("h.jsonl:1: ")) << to;
  }
}

TEST(CheckHistory, RunsThatEndAtOnceLoseNothing) {
  const TempDir dir;
  const std::string path = dir.path("h.jsonl"), line = history_line(report_with(1), machine());
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 25; ++j) HistoryFile(path).append(line);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const History history = read_history(path);
  EXPECT_EQ(history.runs.size(), 200u);
  EXPECT_THAT(history.notices, IsEmpty());
}

TEST(CheckHistory, AfterATornLineTheNextOneIsWhole) {
  const TempDir dir;
  const std::string line = history_line(report_with(1), machine());
  const std::string path = dir.write("h.jsonl", line + line.substr(0, 20));
  HistoryFile(path).append(line);
  EXPECT_EQ(dir.read("h.jsonl"), line + line.substr(0, 20) + "\n" + line);
  EXPECT_EQ(read_history(path).runs.size(), 2u);
}

TEST(CheckHistory, WhereNoneCanBeWritten) {
  const TempDir dir;
  EXPECT_EQ(refusal_by([&] { HistoryFile file(dir.path("no/h.jsonl")); }),
            "cannot write history '" + dir.path("no/h.jsonl") + "': No such file or directory");
  EXPECT_EQ(refusal_by([&] { HistoryFile file("/dev/null"); }),
            "cannot write history '/dev/null': it is not a regular file");
  EXPECT_THAT(refusal_by([&] { HistoryFile file(dir.directory()); }), HasSubstr("Is a directory"));
}

TEST(CheckTrend, AChangeHasItsRunAndSize) {
  const std::vector<Trend> trends = trends_in(history_of(kStep, {7}));
  ASSERT_EQ(trends.size(), 1u);
  const Trend& trend = trends[0];
  EXPECT_EQ(trend.timed, 12u);
  ASSERT_EQ(trend.steps.size(), 1u);
  EXPECT_EQ(trend.steps[0].revision, "r7");
  EXPECT_EQ(trend.steps[0].date, date_of(7));
  EXPECT_NEAR(trend.steps[0].change, 0.2, 1e-9);
  EXPECT_DOUBLE_EQ(trend.first_us, 10);
  EXPECT_DOUBLE_EQ(trend.last_us, 12);
  EXPECT_EQ(trend.flips, 0) << "SLOWER where the times changed is as it should be";
}

TEST(CheckTrend, FirstCallsAreASeriesOfTheirOwn) {
  CheckReport report = report_with(10);
  report.items.push_back(report.items[0]);
  report.items[1].is_first_call = true;
  report.items[1].speed->current_us = 900;
  const std::vector<Trend> trends =
      trends_in(history_line(report, machine()) + history_line(report, machine()));
  ASSERT_EQ(trends.size(), 2u);
  EXPECT_EQ(trends[0].last_us, 10);
  EXPECT_EQ(trends[1].last_us, 900);
  EXPECT_THAT(markdown_of(history_line(report, machine())),
              HasSubstr("first call of native on relu"));
}

TEST(CheckTrend, OneRunIsNotSeveral) {
  EXPECT_THAT(markdown_of(history_of({10})), testing::StartsWith("### opbench: 1 run, of 2026"));
}

TEST(CheckTrend, AVerdictWithoutAChangeIsFlaky) {
  const std::vector<double> steady(12, 10.0);
  EXPECT_EQ(trends_in(history_of(steady, {3, 6})).at(0).flips, 2);
  EXPECT_EQ(trends_in(history_of(steady, {9, 12})).at(0).flips, 0)
      << "whether the times changed there will be known after four more runs";
  EXPECT_EQ(trends_in(history_of(kStep, {2})).at(0).flips, 1);
}

TEST(CheckTrend, AnErrorThatCameAndWentIsFlaky) {
  CheckReport wrong = report_with(10, ChangeVerdict::error);
  wrong.items[0].speed.reset();
  const std::string error = history_line(wrong, machine("a cpu", date_of(1)));
  const std::string later = history_of(std::vector<double>(5, 10.0));
  EXPECT_EQ(trends_in(error + later).at(0).flips, 1);
  EXPECT_EQ(trends_in(later + error).at(0).flips, 1) << "in the order of dates";
  EXPECT_EQ(trends_in(error).at(0).flips, 0);
}

// One case takes twice the time on the other machine.
TEST(CheckTrend, UnlikeMachinesAreNeverCompared) {
  const std::vector<double> slow(8, 20.0), fast(8, 10.0);
  const std::string text =
      history_of(fast, {}, "fast") + history_of(slow, {}, "slow") + history_of(fast, {}, "fast");
  const std::vector<Trend> trends = trends_in(text);
  ASSERT_EQ(trends.size(), 2u);
  for (const Trend& trend : trends) {
    EXPECT_THAT(trend.steps, IsEmpty());
    EXPECT_EQ(trend.first_us, trend.last_us);
  }
  const std::string markdown = markdown_of(text);
  EXPECT_THAT(markdown, HasSubstr("**Machine**: fast, 2 cores"));
  EXPECT_THAT(markdown, HasSubstr("**Machine**: slow, 2 cores"));
}

TEST(CheckTrend, MarkdownNamesChangesFlakyCasesAndTrends) {
  const std::string markdown = markdown_of(history_of(kStep, {2, 7}) + "{\"torn");
  EXPECT_THAT(markdown, testing::StartsWith("### opbench: 12 runs from 2026"));
  EXPECT_THAT(markdown, HasSubstr("+20.0%"));
  EXPECT_THAT(markdown, HasSubstr("r7"));
  EXPECT_THAT(markdown, HasSubstr("10 SAME, 2 SLOWER"));
  EXPECT_THAT(markdown, HasSubstr("left out"));
  const std::string none = markdown_of(history_of({10, 10, 10}));
  EXPECT_THAT(none, HasSubstr("#### Change points\n\nnone\n"));
  EXPECT_THAT(none, HasSubstr("#### Flaky\n\nnone\n"));
}

// Text of a file must not be interpreted as markup.
TEST(CheckTrend, NothingInAHistoryIsMarkup) {
  CheckReport report = report_with(10);
  report.items[0].case_key = "<script>|[a](b)";
  report.items[0].variant = "`x`";
  const std::string markdown = markdown_of(history_line(report, machine("<img>")));
  EXPECT_THAT(markdown, Not(HasSubstr("<script>")));
  EXPECT_THAT(markdown, Not(HasSubstr("<img>")));
  EXPECT_THAT(markdown, Not(HasSubstr("|[a]")));
}

TEST(CheckTrend, WhatWasNeverTimedHasNoTrend) {
  CheckReport report = report_with(10, ChangeVerdict::gone);
  report.items[0].speed.reset();
  const std::vector<Trend> trends = trends_in(history_line(report, machine()));
  ASSERT_EQ(trends.size(), 1u);
  EXPECT_EQ(trends[0].timed, 0u);
  EXPECT_THAT(markdown_of(history_line(report, machine())), HasSubstr("1 GONE"));
}

}  // namespace opbench::check
