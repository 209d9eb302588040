// Tests `opbench report` and the report flags of `run` at the command line.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/cli.h"
#include "tests/cli/error_line.h"
#include "tests/support/source_tree.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kSample = source_file("results/samples/results.json");

class Report : public testing::Test, protected TempDir {
 protected:
  /// The sample with every time multiplied by `factor`.
  std::string slower_sample(double factor) const {
    auto json = nlohmann::ordered_json::parse(text_of(kSample));
    for (auto& record : json["records"]) {
      for (auto& us : record["samples_us"]) us = us.get<double>() * factor;
    }
    return write("slower.json", json.dump());
  }
};

/// The output of python3; "skip" if it is not installed.
std::string python(const std::string& args) {
  if (!has_command("python3")) return "skip";
  return shell("python3 " + args + " 2>&1").out;
}

}  // namespace

TEST_F(Report, MarkdownByDefault) {
  const Outcome outcome = opbench_with({"report", kSample});
  EXPECT_EQ(outcome.code, kAllWell) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("# opbench results\n"));
  EXPECT_EQ(outcome.err, "");
}

TEST_F(Report, NoExtensionIsGuessed) {
  for (const auto& [name, start] : {std::pair{"x.JSON", "{"},
                                    {"x.Csv", "case,"},
                                    {"x.XML", "<?xml"},
                                    {"x.md", "# "},
                                    {"plain", "# "}}) {
    EXPECT_EQ(opbench_with({"report", kSample, "-o", path(name)}).code, kAllWell) << name;
    EXPECT_THAT(text_of(path(name)), StartsWith(start)) << name;
  }
  expect_refusal(opbench_with({"report", kSample, "-o", path("x.html")}), "is --html '");
  expect_refusal(opbench_with({"report", kSample, "-o", path("x.svg")}),
                 "no format has the extension .svg; .md .csv");
  EXPECT_FALSE(fs::exists(path("x.svg")));
  EXPECT_EQ(opbench_with({"report", kSample, "-o", path("x.svg"), "--format", "csv"}).code,
            kAllWell);
}

TEST_F(Report, IsWhatTheCommittedSamplesShow) {
  const std::pair<const char*, const char*> samples[] = {
      {"csv", "results.csv"},    {"markdown", "results.md"},
      {"json", "results.json"},  {"junit", "junit.xml"},
      {"gbench", "gbench.json"}, {"smaller-is-better", "smaller-is-better.json"}};
  for (const auto& [format, file] : samples) {
    const std::string sample = text_of(source_file("results/samples/") + file);
    EXPECT_TRUE(opbench_with({"report", kSample, "--format", format}).out == sample) << file;
  }
}

// The samples of one variant are whole ticks of the scheduler. No report has a ratio for it.
TEST_F(Report, ADisturbedRowHasNoRatio) {
  auto json = nlohmann::ordered_json::parse(text_of(kSample));
  nlohmann::ordered_json* row = nullptr;
  for (auto& record : json["records"]) {
    const bool is_fit = record["variant"] == "softplus_v2" && record["speedup_over_native"] > 0;
    if (row == nullptr && is_fit) row = &record;
  }
  ASSERT_NE(row, nullptr);
  (*row)["samples_us"] = {15990.5, 16003.25, 11995.0};
  (*row)["iterations"] = {1, 1, 1};
  (*row)["median_us"] = 15990.5;
  (*row)["min_us"] = 11995.0;
  (*row)["preemptions"] = 9;
  const std::string file = write("disturbed.json", json.dump());

  const auto read_back =
      nlohmann::json::parse(opbench_with({"report", file, "--format", "json"}).out);
  const auto& records = read_back["records"];
  const auto is_disturbed = [](const auto& record) { return record["disturbed"] == true; };
  ASSERT_EQ(std::count_if(records.begin(), records.end(), is_disturbed), 1);
  const auto& found = *std::find_if(records.begin(), records.end(), is_disturbed);
  EXPECT_EQ(found["variant"], "softplus_v2");
  EXPECT_EQ(found["speedup_over_native"], nullptr);
  EXPECT_EQ(found["status"], "passed");

  const std::string rows = opbench_with({"report", file, "--format", "console"}).out;
  EXPECT_THAT(rows, ContainsRegex("softplus_v2 +15990\\.50 us +disturbed.* passed, disturbed\n"));
  EXPECT_THAT(opbench_with({"report", file}).out, HasSubstr("| disturbed |"));
}

TEST_F(Report, RunAndReportAgree) {
  const Outcome run = opbench_with({"--case", "softplus[2x20x5x7,fp32,NC1HWC0]", "--time", "0.002",
                                    "--repetitions", "3", "-q", "--json", path("r.json"), "--junit",
                                    path("r.xml"), "--benchmark-json", path("r.gb.json")});
  ASSERT_EQ(run.code, kAllWell) << run.err;
  EXPECT_TRUE(opbench_with({"report", path("r.json"), "--format", "junit"}).out ==
              text_of(path("r.xml")));
  EXPECT_TRUE(opbench_with({"report", path("r.json"), "--format", "gbench"}).out ==
              text_of(path("r.gb.json")));
  EXPECT_THAT(text_of(path("r.xml")), HasSubstr("<system-out>opbench --case"));
}

TEST_F(Report, OutputReplacesAFileAsAWhole) {
  const std::string old = write("x.xml", "old");
  EXPECT_EQ(opbench_with({"report", kSample, "--format", "junit", "-o", old, "--overwrite"}).code,
            kAllWell);
  EXPECT_THAT(text_of(old), StartsWith("<?xml version"));
  expect_refusal(opbench_with({"report", path("none.json"), "-o", old}), "none.json");
  EXPECT_THAT(text_of(old), StartsWith("<?xml version"));
  const Outcome nowhere = opbench_with({"report", kSample, "-o", "/no/such/folder/x.md"});
  EXPECT_EQ(nowhere.code, kCouldNotFinish);
  EXPECT_THAT(nowhere.err, HasSubstr("cannot write /no/such/folder/x.md: "));
}

TEST_F(Report, TheExtensionSaysTheForm) {
  const std::pair<const char*, const char*> forms[] = {{"x.csv", "csv"},
                                                       {"x.json", "json"},
                                                       {"x.xml", "junit"},
                                                       {"x.md", "markdown"},
                                                       {"x", "markdown"}};
  for (const auto& [file, format] : forms) {
    ASSERT_EQ(opbench_with({"report", kSample, "-o", path(file)}).code, kAllWell);
    EXPECT_EQ(text_of(path(file)), opbench_with({"report", kSample, "--format", format}).out)
        << file;
  }
  ASSERT_EQ(opbench_with({"report", kSample, "--format", "gbench", "-o", path("x.csv")}).code,
            kAllWell);
  EXPECT_THAT(text_of(path("x.csv")), HasSubstr("\"benchmarks\"")) << "as asked";
}

TEST_F(Report, ResultsAreNotReplacedByTheirReport) {
  const std::string results = write("r.json", text_of(kSample));
  fs::create_symlink(results, path("link.json"));
  for (const std::string& output : {results, path("link.json")}) {
    expect_refusal(opbench_with({"report", results, "-o", output}),
                   "would replace what is read, the results '");
  }
  EXPECT_EQ(text_of(results), text_of(kSample));
}

TEST_F(Report, RunsOfOtherCasesJoin) {
  for (const char* number : {"1", "2"}) {
    const std::string file = path(fmt::format("{}.json", number));
    const Outcome run =
        opbench_with({"--case", fmt::format("relu[6{},fp32]", number), "--variant", "native",
                      "--time", "0.001", "--repetitions", "2", "-q", "--json", file});
    ASSERT_EQ(run.code, kAllWell) << run.err;
  }
  const Outcome joined =
      opbench_with({"report", path("1.json"), path("2.json"), "--format", "json"});
  ASSERT_EQ(joined.code, kAllWell) << joined.err;
  EXPECT_EQ(nlohmann::json::parse(joined.out)["records"].size(), 2u);
  expect_refusal(opbench_with({"report", path("1.json"), path("1.json")}), "can be joined once");
  expect_refusal(opbench_with({"report", path("1.json"), kSample}), "only results of one machine");
}

TEST_F(Report, RefusesBadInput) {
  expect_refusal(opbench_with({"report"}), "FILE is required");
  expect_refusal(opbench_with({"report", kSample, "--format", "junitt"}),
                 "unknown report format 'junitt'; did you mean 'junit'?");
  expect_refusal(opbench_with({"report", kSample, "--format", "?"}), "allowed: markdown, csv");
  expect_refusal(opbench_with({"report", path("none.json")}), "cannot read '");
  expect_refusal(opbench_with({"report", write("x.json", "")}), "x.json: the file is empty");
  expect_refusal(opbench_with({"report", write("x.json", "{\"a\": 1}")}),
                 "no results of `opbench run --json`: it must be an object with the key 'opbench'");
  expect_refusal(opbench_with({"report", write("x.json", text_of(kSample).substr(0, 3000))}),
                 "x.json: no JSON: ");
  expect_refusal(opbench_with({"report", write("x.json", "{\"opbench\": 99}")}),
                 "opbench is version 99 of the format");
}

TEST_F(Report, NothingToReportIsNoSuccess) {
  auto json = nlohmann::ordered_json::parse(text_of(kSample));
  json["records"].clear();
  const std::string empty = write("empty.json", json.dump());
  const Outcome outcome = opbench_with({"report", empty, "--format", "junit", "-o", path("x.xml")});
  EXPECT_EQ(outcome.code, kNothingToJudge);
  EXPECT_THAT(outcome.err, HasSubstr("nothing to report"));
  EXPECT_FALSE(fs::exists(path("x.xml")));
}

TEST_F(Report, JUnitIsWellFormedWhateverTheText) {
  auto json = nlohmann::ordered_json::parse(text_of(kSample));
  auto& record = json["records"][0];
  record["status"] = "failed";
  record["reason"] = "]]> <b a='x'>&amp; \"\u0001\u001b[31m \ufffe \r\n\t\xF0\x9F\x98\x80";
  record["case"] = "<&\n\">";
  const std::string xml = path("x.xml");
  ASSERT_EQ(
      opbench_with({"report", write("x.json", json.dump()), "--format", "junit", "-o", xml}).code,
      kAllWell);
  const std::string script = write("x.py",
                                   "import sys, xml.etree.ElementTree as e\n"
                                   "c = next(e.parse(sys.argv[1]).iter('testcase'))\n"
                                   "print(ascii(c.get('name')))\n"
                                   "print(ascii(c.find('failure').text))\n");
  const std::string found = python(script + " " + xml);
  if (found == "skip") GTEST_SKIP() << "no python3";
  // A parser restores the text. \r is written as a reference, so it is kept.
  EXPECT_EQ(
      found,
      "'<&\\n\">/native/threads:1'\n"
      "']]> <b a=\\'x\\'>&amp; \"\\ufffd\\ufffd[31m \\ufffd\\ufffd\\ufffd \\r\\n\\t\\U0001f600'\n");
}

// Jenkins' xUnit plugin accepts every outcome and times of all lengths.
TEST_F(Report, JUnitFollowsJenkinsSchema) {
  auto json = nlohmann::ordered_json::parse(text_of(kSample));
  const char* const statuses[] = {"failed", "errored", "skipped", "suspicious"};
  for (std::size_t i = 0; i < std::size(statuses); ++i) {
    json["records"][i]["status"] = statuses[i];
    json["records"][i]["reason"] = "why";
  }
  const std::string xml = path("x.xml");
  ASSERT_EQ(
      opbench_with({"report", write("x.json", json.dump()), "--format", "junit", "-o", xml}).code,
      kAllWell);
  const std::string found = python(source_file("tests/text/junit_rules.py") + " " + xml);
  if (found == "skip") GTEST_SKIP() << "no python3";
  EXPECT_EQ(std::count(found.begin(), found.end(), '\n'), 6) << found;
}

TEST_F(Report, FollowsTheRulesOfCompare) {
  const std::string slower = slower_sample(1.5);
  ASSERT_EQ(opbench_with({"report", kSample, "--format", "gbench", "-o", path("a.json")}).code, 0);
  ASSERT_EQ(opbench_with({"report", slower, "--format", "gbench", "-o", path("b.json")}).code, 0);
  const std::string found = python(source_file("tests/cli/compare_rules.py") + " " +
                                   path("a.json") + " " + path("b.json"));
  if (found == "skip") GTEST_SKIP() << "no python3";
  const std::string name = "softplus[1x512x7x7,fp32,NCHW,beta=1,threshold=20]/native/threads:1";
  EXPECT_THAT(found, StartsWith(name + " iteration +0.500 +0.500 +0.500 +0.500 +0.500 +0.500\n" +
                                name + "_mean aggregate +0.500 +0.500\n" + name +
                                "_median aggregate +0.500 +0.500\n" + name +
                                "_stddev aggregate +0.500 +0.500\n" + name + "_cv aggregate"));
  EXPECT_EQ(std::count(found.begin(), found.end(), '\n'), 6 * 5) << found;
}

}  // namespace opbench
