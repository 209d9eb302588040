// Steps of contexts in JSON and CSV: read, and refused if they are not steps.
#include "harness/run/results_json.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "harness/report/report.h"
#include "tensor/error.h"
#include "tests/cli/csv.h"
#include "tests/harness/run/results_text.h"
#include "tests/support/refusal.h"
#include "tests/support/source_tree.h"
#include "tests/support/step_records.h"

namespace opbench {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;

std::string written(const std::vector<Record>& records) {
  RunResult run;
  run.records = records;
  return results_text(run);
}

std::vector<Record> read_back(const std::string& text) {
  return parse_results(text, "x.json").run.records;
}

std::string refusal(const Json& json) {
  return bad_input_by([&] { parse_results(json.dump(), "x.json"); });
}

std::string step_refusal_with(const std::string& pointer, const Json& value) {
  Json json = Json::parse(written(step_records::shufflenet()));
  json[Json::json_pointer(pointer)] = value;
  return refusal(json);
}

StepDetails everything() {
  StepDetails d = *step_records::step("x", "y", {{"TransData", 3, 30}, {"Cast", 2, 5}}).step;
  d.summary = "\"quoted\"\n";
  d.index = 7, d.copies = 4, d.trans_data_bytes = 123.5, d.planning_ms = 0.25;
  d.peak_bytes = std::size_t{1} << 40, d.unshared_bytes = std::size_t{1} << 41;
  d.us_per_sample = 0.1, d.speedup_over_previous = 1.5, d.speedup_over_first = 2.5;
  d.has_overflow = true, d.loss_scale = 1024, d.skipped_updates = 3;
  d.tasks = step_records::two_tasks();
  d.tasks[0].inputs[0].c0 = 8;  // NCHW has no C0
  TensorDesc grouped = step_records::desc(DType::fp16, {116, 1, 3, 3}, Format::FRACTAL_Z);
  grouped.groups = 116;
  d.tasks[1].inputs.push_back(grouped);
  d.tasks[1].sources = {0, -1};
  d.tasks[1].outputs.push_back(describe(DType::int8, {}));
  return d;
}

}  // namespace

TEST(StepJson, GivesWhatWasWritten) {
  const StepDetails d = everything();
  const Record record =
      step_records::with_step(step_records::step("x", "y", {{"TransData", 3, 30}}), d);
  const std::string text = written({record});
  const std::vector<Record> read = read_back(text);
  ASSERT_EQ(read.size(), 1u);
  ASSERT_TRUE(read[0].step);
  const StepDetails& s = *read[0].step;
  EXPECT_EQ(s.context, "shufflenet_v2");
  EXPECT_EQ(s.summary, "\"quoted\"\n");
  EXPECT_EQ(s.after, "y");
  EXPECT_EQ(std::tie(s.index, s.nodes, s.trans_data, s.casts, s.copies, s.skipped_updates),
            std::tie(d.index, d.nodes, d.trans_data, d.casts, d.copies, d.skipped_updates));
  EXPECT_EQ(std::tie(s.trans_data_bytes, s.planning_ms, s.peak_bytes, s.unshared_bytes),
            std::tie(d.trans_data_bytes, d.planning_ms, d.peak_bytes, d.unshared_bytes));
  EXPECT_EQ(std::tie(s.us_per_sample, s.speedup_over_previous, s.speedup_over_first, s.loss_scale),
            std::tie(d.us_per_sample, d.speedup_over_previous, d.speedup_over_first, d.loss_scale));
  EXPECT_TRUE(s.has_overflow);
  ASSERT_EQ(s.types.size(), 2u);
  EXPECT_EQ(s.types[0].type, "TransData");
  EXPECT_EQ(s.types[0].count, 3);
  EXPECT_EQ(s.types[0].share, d.types[0].share);
  ASSERT_EQ(s.tasks.size(), 2u);
  EXPECT_EQ(s.tasks[0].cause, "concat: C=58 is not a multiple of 16");
  EXPECT_EQ(s.tasks[1].duration_us, 80.25);
  EXPECT_EQ(s.tasks[1].inputs, d.tasks[1].inputs);
  EXPECT_EQ(s.tasks[1].outputs, d.tasks[1].outputs);
  EXPECT_EQ(read[0].trans_data, 3);
  EXPECT_EQ(written(read), text);
}

TEST(StepJson, AllStepsGiveTheSameTextAgain) {
  std::vector<Record> records = step_records::shufflenet();
  records.emplace_back().op = "relu";
  const std::string text = written(records);
  EXPECT_EQ(written(read_back(text)), text);
}

TEST(StepJson, AStepWithoutAPlanHasNoNumbers) {
  const Json json = Json::parse(written(step_records::shufflenet()));
  const Json& skipped = json["records"][3];
  for (const char* key : {"nodes", "trans_data_bytes", "casts", "copies", "peak_bytes",
                          "unshared_bytes", "planning_ms", "us_per_sample", "has_overflow",
                          "speedup_over_first", "loss_scale", "skipped_updates"}) {
    EXPECT_TRUE(skipped.at(key).is_null()) << key;
  }
  EXPECT_EQ(skipped["step"]["after"], "shuffle_gather");
  EXPECT_EQ(json["records"][0]["casts"], 12);
  EXPECT_EQ(json["records"][0]["skipped_updates"], 0);
  EXPECT_TRUE(json["records"][0]["speedup_over_previous"].is_null());
}

TEST(StepJson, RecordsOfOperatorsHaveNone) {
  const Json json = Json::parse(written(std::vector<Record>(1)));
  EXPECT_FALSE(json["records"][0].contains("step"));
  EXPECT_TRUE(json["records"][0]["nodes"].is_null());
  EXPECT_FALSE(read_back(json.dump())[0].step);
}

TEST(StepJson, CsvHasTheColumns) {
  std::vector<Record> records = step_records::shufflenet();
  records.emplace_back();
  std::ostringstream out;
  report::write_csv(out, records);
  const std::vector<csv::Row> rows = csv::parse(out.str());
  ASSERT_EQ(rows.size(), 7u);
  const auto cell = [&](std::size_t row, const std::string& name) {
    return csv::cell(rows, row, name);
  };
  EXPECT_EQ(cell(1, "op"), "shufflenet_v2");
  EXPECT_EQ(cell(1, "variant"), "baseline");
  EXPECT_EQ(cell(1, "trans_data"), "118");
  EXPECT_EQ(cell(1, "peak_bytes"), "50855936");  // 48.5 MiB
  EXPECT_EQ(cell(1, "us_per_sample"), "2975");
  EXPECT_EQ(cell(2, "speedup_over_previous"), "1.14");
  EXPECT_EQ(cell(1, "has_overflow"), "false");
  EXPECT_EQ(cell(4, "casts"), "");
  EXPECT_EQ(cell(6, "nodes"), "");
  EXPECT_EQ(cell(6, "has_overflow"), "");
}

TEST(StepJson, SaysWhereAndWhat) {
  const std::string step = "/records/0/step", task = step + "/tasks/0";
  EXPECT_EQ(step_refusal_with(step, 5), "x.json: records[0].step is 5; it must be an object");
  EXPECT_EQ(step_refusal_with(step + "/index", -1),
            "x.json: records[0].step.index is -1; it must be a whole number from 0 to 2147483647");
  EXPECT_EQ(step_refusal_with(step + "/types/0/share", 1.5),
            "x.json: records[0].step.types[0].share is 1.5; it must be a number from 0 to 1");
  EXPECT_EQ(step_refusal_with(task + "/duration_us", nullptr),
            "x.json: records[0].step.tasks[0].duration_us is null; it must be a number from 0");
  EXPECT_THAT(step_refusal_with("/records/0/step/tasks/0/from", Json({3})),
              HasSubstr("x.json: records[0].step.tasks[0].from[0] is 3"));
  EXPECT_EQ(step_refusal_with("/records/0/casts", nullptr),
            "x.json: records[0].casts is null; it must be a whole number from 0 to 2147483647");
  EXPECT_THAT(step_refusal_with("/records/0/peak_bytes", -1),
              HasSubstr("records[0].peak_bytes is -1"));
  EXPECT_THAT(step_refusal_with("/records/0/has_overflow", 1), HasSubstr("must be true or false"));
  EXPECT_THAT(step_refusal_with(task + "/inputs/0/dtype", "fp17"),
              HasSubstr("x.json: records[0].step.tasks[0].inputs[0].dtype: "));
  EXPECT_THAT(step_refusal_with(task + "/outputs/0/c0", 0),
              HasSubstr("outputs[0].c0 is 0; it must be"));
  EXPECT_THAT(step_refusal_with(task + "/outputs/0/shape", "8x-1"),
              HasSubstr("outputs[0].shape: "));
  EXPECT_THAT(step_refusal_with(task + "/outputs/0/shape", "1x1x3000000000x1000000000"),
              HasSubstr("x.json: records[0].step.tasks[0].outputs[0]: "));
}

TEST(StepJson, NothingOfAStepCanBeMissing) {
  const Json good = Json::parse(written(step_records::shufflenet()));
  const auto without = [&](const std::string& parent, const std::string& key) {
    Json json = good;
    json[Json::json_pointer(parent)].erase(key);
    return refusal(json);
  };
  for (const char* part : {"/records/0/step", "/records/0/step/types/0", "/records/0/step/tasks/0",
                           "/records/0/step/tasks/0/inputs/0"}) {
    for (const auto& [key, value] : good[Json::json_pointer(part)].items()) {
      if (key == "samples") continue;  // older files lack it
      EXPECT_THAT(without(part, key), HasSubstr(" has no '" + key + "'")) << part;
    }
  }
  EXPECT_EQ(without("/records/0", "step"),
            "x.json: records[0].nodes is set, but the record has no 'step'");
}

TEST(OlderResults, AreReadAndBecomeTodays) {
  for (const int version : {1, 2, 3}) {
    const ResultsFile old =
        read_results_file(test_data(fmt::format("results_version_{}.json", version)));
    EXPECT_EQ(old.version, version);
    ASSERT_FALSE(old.run.records.empty());
    std::ostringstream today, sample;
    write_json(today, old.run, old.machine, old.command);
    sample << std::ifstream(source_file("results/samples/results.json")).rdbuf();
    EXPECT_EQ(today.str(), sample.str());
  }
}

// Version 1 ignores a key that it does not know.
TEST(ResultsVersion1, HasNoSteps) {
  Json json = Json::parse(written(step_records::shufflenet()));
  json["opbench"] = 1;
  const std::vector<Record> records = read_back(json.dump());
  ASSERT_EQ(records.size(), 5u);
  EXPECT_FALSE(records[0].step);
  EXPECT_EQ(records[0].trans_data, 118);
}

}  // namespace opbench
