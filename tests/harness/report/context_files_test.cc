// Tests every file format of a context's steps.
#include <gmock/gmock.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "harness/report/files.h"
#include "harness/report/report.h"
#include "harness/report/step_table.h"
#include "tests/cli/csv.h"
#include "tests/support/records.h"
#include "tests/support/step_records.h"

namespace opbench::report {
namespace {

using csv::cell;
using Json = nlohmann::ordered_json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

ResultsFile results_of(std::vector<Record> records) {
  ResultsFile file;
  file.run.records = std::move(records);
  return file;
}

/// The report of the records. It must equal the report of the results that are read back.
std::string report(const std::string& format, const std::vector<Record>& records) {
  const ResultsFile file = results_of(records);
  std::ostringstream out, json, again;
  find_report_format(format).write(out, file);
  find_report_format("json").write(json, file);
  find_report_format(format).write(again, parse_results(json.str(), "x.json"));
  EXPECT_EQ(out.str(), again.str()) << format;
  return out.str();
}

std::vector<csv::Row> table(const std::string& format, const std::vector<Record>& records) {
  return csv::parse(report(format, records));
}

/// Two steps of two tasks.
std::vector<Record> two_steps() {
  StepDetails d;
  d.tasks = step_records::two_tasks();
  std::vector<Record> steps = {
      step_records::step("a", "", {{"TransData", 1, 120.5}, {"X", 1, 80.25}}, d)};
  d.index = 1;
  steps.push_back(step_records::step("b", "a", {{"TransData", 1, 120.5}, {"X", 1, 80.25}}, d));
  return steps;
}

Record single() {
  Record record = timed_record({1});
  record.provider = "native";
  return record;
}

}  // namespace

TEST(ContextMarkdown, HasATableOfStepsAndOneOfTimes) {
  const std::string text = report("markdown", step_records::shufflenet());
  EXPECT_THAT(text,
              HasSubstr("## shufflenet_v2[fp16,N=8]\n\n2 threads\n\n"
                        "| # | step | changes | time | spread | TransData | Cast | copies | peak | "
                        "after | v. before | v. first | verdict |\n"
                        "|---:|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|\n"
                        "| 1 | baseline | as the framework has it | 23.800 ms | 0 % | "
                        "118, 212.3 MiB | 12 | 32 | 48.5 MiB | - | - | 1.00x | passed |\n"));
  EXPECT_THAT(text,
              HasSubstr("| 4 | no_sync | | - | - | - | - | - | - | 3 | - | - | skipped: stream "
                        "synchronisation exists on a device only |\n"));
  EXPECT_THAT(text, HasSubstr("| 5 | **weights_init** |"));
  EXPECT_THAT(text,
              HasSubstr("ms and share of all tasks.\n\n| type | 1 | 2 | 3 | 5 |\n"
                        "|---|---:|---:|---:|---:|\n"
                        "| TransData | 9.12  38 % | 6.24  30 % | 2.51  18 % | 0.21   2 % |\n"));
  EXPECT_THAT(text, Not(HasSubstr("## Summary")));
  EXPECT_THAT(text, Not(HasSubstr("## Slower")));
}

TEST(ContextMarkdown, SingleOperatorsKeepTheirTables) {
  std::vector<Record> records = step_records::shufflenet();
  records.push_back(single());
  const std::string text = report("markdown", records);
  EXPECT_THAT(text, HasSubstr("\n## relu\n"));
  EXPECT_THAT(text, HasSubstr("\n## shufflenet_v2[fp16,N=8]\n"));
  EXPECT_THAT(text, HasSubstr("\n| native | 1 | 1 | 0 | 0 |"));
  EXPECT_THAT(text, Not(HasSubstr("shufflenet_v2/")));
}

TEST(ContextMarkdown, NamesAreNoMarkup) {
  Record record = step_records::step("a|b", "", {{"T|U", 1, 5}});
  record.case_id = "<x>[fp16]";
  const std::string text = report("markdown", {record});
  EXPECT_THAT(text, AllOf(HasSubstr("## &lt;x>"), HasSubstr("| a\\|b |"), HasSubstr("| T\\|U |")));
}

TEST(ContextSummary, ALinePerContext) {
  RunResult result;
  result.records = step_records::shufflenet();
  result.cases_run = 1;
  std::ostringstream out;
  print_summary(out, result, {});
  EXPECT_THAT(out.str(), testing::StartsWith(
                             "\nContexts, fastest step against the first:\n"
                             "  shufflenet_v2[fp16,N=8], 2 threads: weights_init 2.21x; 4 of 5 "
                             "steps timed\n1 case, 5 results: 4 passed, 1 skipped.\n"));
}

TEST(ContextReports, ConsoleIsWhatTheRunPrints) {
  std::vector<Record> records = step_records::shufflenet();
  std::ostringstream run;
  print_case(run, records, {});
  EXPECT_THAT(report("console", records), testing::StartsWith(run.str() + "\nContexts, fastest"));
  records.push_back(single());
  const std::string text = report("console", records);
  EXPECT_THAT(text, AllOf(testing::StartsWith("  variant"), HasSubstr(run.str()),
                          HasSubstr("\nrelu[64,fp32,ND]  (")));
}

TEST(ContextReports, AStepIsATestCase) {
  const std::string xml = report("junit", step_records::shufflenet());
  EXPECT_THAT(xml, HasSubstr("name=\"shufflenet_v2[fp16,N=8]/shuffle_gather/threads:2\""));
  EXPECT_THAT(xml, HasSubstr("<skipped"));
  const Json gbench = Json::parse(report("gbench", step_records::shufflenet()));
  EXPECT_EQ(gbench["benchmarks"][0]["run_name"], "shufflenet_v2[fp16,N=8]/baseline/threads:2");
  const Json smaller = Json::parse(report("smaller-is-better", step_records::shufflenet()));
  ASSERT_THAT(smaller, SizeIs(4));
  EXPECT_EQ(smaller[3]["name"], "shufflenet_v2[fp16,N=8]/weights_init/threads:2");
  EXPECT_EQ(smaller[3]["value"], 10770);
}

TEST(OpSummary, HasTheProfilersColumns) {
  const std::vector<csv::Row> rows = table("op-summary", two_steps());
  ASSERT_THAT(rows, SizeIs(5));
  for (const csv::Row& row : rows) EXPECT_THAT(row, SizeIs(23));
  EXPECT_EQ(cell(rows, 1, "Device_id"), "0");
  EXPECT_EQ(cell(rows, 1, "Model Name"), "shufflenet_v2[fp16,N=8] a");
  EXPECT_EQ(cell(rows, 3, "Model Name"), "shufflenet_v2[fp16,N=8] b");
  EXPECT_EQ(cell(rows, 3, "Infer ID"), "2");
  EXPECT_EQ(cell(rows, 1, "Op Name"), "stage2.1.concat.trans_data0");
  EXPECT_EQ(cell(rows, 1, "OP Type"), "TransData");
  EXPECT_EQ(cell(rows, 1, "Task Type"), "HOST_CPU");
  EXPECT_EQ(cell(rows, 1, "Task Duration(us)"), "120.500");
  EXPECT_EQ(cell(rows, 1, "Block Dim"), "2");
  // The storage is ceil(58/16) blocks of 16 channels. The quotes are part of the cell.
  EXPECT_EQ(cell(rows, 1, "Input Shapes"), "\"8,58,28,28\"");
  EXPECT_EQ(cell(rows, 1, "Output Shapes"), "\"8,4,28,28,16\"");
  EXPECT_EQ(cell(rows, 1, "Input Formats"), "NCHW");
  EXPECT_EQ(cell(rows, 1, "Output Formats"), "NC1HWC0");
  // The weight [58,1,3,3] has 1*3*3 blocks and ceil(58/16) = 4 rows of 16.
  EXPECT_EQ(cell(rows, 2, "Input Shapes"), "\"8,4,28,28,16;9,4,16,16\"");
  EXPECT_EQ(cell(rows, 2, "Input Data Types"), "FLOAT16;FLOAT16");
  EXPECT_EQ(cell(rows, 2, "Input Formats"), "NC1HWC0;FRACTAL_Z");
}

// The second step begins at the end of the first: 123 + 80.25.
TEST(OpSummary, TimesRiseThroughTheFile) {
  const std::vector<csv::Row> rows = table("op-summary", two_steps());
  std::vector<std::string> starts, waits;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    starts.push_back(cell(rows, i, "Task Start Time(us)"));
    waits.push_back(cell(rows, i, "Task Wait Time(us)"));
  }
  EXPECT_THAT(starts, ElementsAre("0.000", "123.000", "203.250", "326.250"));
  EXPECT_THAT(waits, ElementsAre("0.000", "2.500", "0.000", "2.500"));
}

TEST(OpSummary, DTypesScalarsAndGroupsAsTheProfilerSpellsThem) {
  StepDetails d;
  TaskTime task;
  task.name = "odd, \"name\"";
  for (const DType dtype : kAllDTypes) task.inputs.push_back(describe(dtype, {}));
  TensorDesc weight = step_records::desc(DType::fp16, {32, 1, 3, 3}, Format::FRACTAL_Z);
  weight.groups = 32;
  task.inputs.push_back(weight);
  d.tasks = {task};
  const std::vector<csv::Row> rows =
      table("op-summary", {step_records::step("a", "", {{"X", 1, 1}}, d)});
  EXPECT_EQ(cell(rows, 1, "Op Name"), "odd, \"name\"");
  EXPECT_EQ(cell(rows, 1, "Input Data Types"),
            "DOUBLE;FLOAT;FLOAT16;DT_BF16;INT64;INT32;INT16;INT8;UINT8;BOOL;FLOAT8_E4M3FN;"
            "FLOAT8_E5M2;HIFLOAT8;FLOAT8_E8M0;INT4;FLOAT16");
  EXPECT_THAT(cell(rows, 1, "Input Shapes"), testing::StartsWith("\";;;;;;;;;;"));
  EXPECT_THAT(cell(rows, 1, "Input Formats"), testing::EndsWith(";FRACTAL_Z:32"));
  EXPECT_EQ(cell(rows, 1, "Output Shapes"), "N/A");
  EXPECT_EQ(cell(rows, 1, "Output Data Types"), "N/A");
}

TEST(OpStatistic, SumsTheTasksByType) {
  const std::vector<csv::Row> rows = table("op-statistic", step_records::shufflenet());
  ASSERT_THAT(rows, SizeIs(1 + 11 + 11 + 11 + 10));
  EXPECT_THAT(rows[0], ElementsAre("Device_id", "Model Name", "OP Type", "Core Type", "Count",
                                   "Total Time(us)", "Min Time(us)", "Avg Time(us)", "Max Time(us)",
                                   "Ratio(%)"));
  EXPECT_THAT(rows[1], ElementsAre("0", "shufflenet_v2[fp16,N=8] baseline", "TransData", "HOST_CPU",
                                   "118", "9120.000", "38.644", "77.288", "154.576", "38.319"));
  double share = 0;
  for (std::size_t i = 1; i <= 11; ++i) share += std::stod(cell(rows, i, "Ratio(%)"));
  EXPECT_NEAR(share, 100, 0.01);
}

TEST(OpStatistic, SingleOperatorsHaveNoTasks) {
  EXPECT_THAT(table("op-statistic", {single()}), SizeIs(1));
  EXPECT_THAT(table("op-summary", {single()}), SizeIs(1));
}

TEST(ContextTrace, AProcessPerContextAndARowPerStep) {
  std::vector<Record> records = two_steps();
  std::vector<Record> other = two_steps();
  other[0].threads = 1;
  records.push_back(other[0]);
  records.push_back(single());
  std::ostringstream out;
  write_trace(out, records);
  const Json trace = Json::parse(out.str());
  std::map<std::pair<int, int>, std::string> names;
  std::vector<Json> slices;
  for (const Json& event : trace["traceEvents"]) {
    const int process = event["pid"], thread = event["tid"];
    if (event["name"] == "process_name") names[{process, 0}] = event["args"]["name"];
    if (event["name"] == "thread_name") names[{process, thread}] = event["args"]["name"];
    if (event["ph"] == "X" && process > 1) slices.push_back(event);
  }
  EXPECT_EQ((names[{1, 0}]), "opbench");
  EXPECT_EQ((names[{2, 0}]), "shufflenet_v2[fp16,N=8], 2 threads");
  EXPECT_EQ((names[{2, 1}]), "1 a");
  EXPECT_EQ((names[{2, 2}]), "2 b");
  EXPECT_EQ((names[{3, 0}]), "shufflenet_v2[fp16,N=8], 1 thread");
  ASSERT_THAT(slices, SizeIs(6));
  EXPECT_EQ(slices[0],
            Json::parse(R"({"name": "stage2.1.concat.trans_data0", "cat": "TransData", "ph": "X",
                            "ts": 0.0, "dur": 120.5, "pid": 2, "tid": 1, "args": {
                            "type": "TransData", "kernel": "trans_data",
                            "cause": "concat: C=58 is not a multiple of 16",
                            "inputs": "fp16[8x58x28x28] NCHW",
                            "outputs": "fp16[8x58x28x28] NC1HWC0"}})"));
  EXPECT_FALSE(slices[1]["args"].contains("cause"));
  EXPECT_EQ(slices[2]["tid"], 2);
  EXPECT_EQ(slices[2]["ts"], 0.0) << "steps begin below one another";
  EXPECT_EQ(slices[4]["pid"], 3);
}

}  // namespace opbench::report
