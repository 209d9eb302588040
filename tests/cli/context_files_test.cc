// Compares the files of a run of contexts with each other.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/cli/context_cli.h"
#include "tests/cli/csv.h"
#include "tests/support/program.h"
#include "tests/support/source_tree.h"

namespace opbench {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// The values of the column with this title.
std::vector<std::string> column(const std::vector<csv::Row>& rows, const std::string& title) {
  std::vector<std::string> values;
  const auto found = std::find(rows.at(0).begin(), rows.at(0).end(), title);
  if (found == rows.at(0).end()) throw std::out_of_range("no column " + title);
  const auto place = static_cast<std::size_t>(found - rows[0].begin());
  for (std::size_t i = 1; i < rows.size(); ++i) values.push_back(rows[i].at(place));
  return values;
}

/// The results of every step of the unit with stride 1, in all files.
class ContextFiles : public ContextCli {
 protected:
  ContextFiles() {
    const Outcome outcome = unit({"--filter", "^stride1$", "--out", directory()});
    EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
    json_ = nlohmann::json::parse(read("results.json"));
    summary_ = csv::read(path("op_summary.csv"));
    statistic_ = csv::read(path("op_statistic.csv"));
  }

  nlohmann::json json_;
  std::vector<csv::Row> summary_, statistic_;
};

TEST_F(ContextFiles, JsonHasEveryStepWithItsTasks) {
  ASSERT_EQ(json_["records"].size(), kUnitSteps.size());
  for (std::size_t i = 0; i < kUnitSteps.size(); ++i) {
    const auto& record = json_["records"][i];
    SCOPED_TRACE(kUnitSteps[i]);
    EXPECT_EQ(record["variant"], kUnitSteps[i]);
    EXPECT_EQ(record["case"], "stride1[N=1,fp32]");
    EXPECT_EQ(record["status"], "passed");
    EXPECT_EQ(record["samples_us"].size(), 2u);
    EXPECT_EQ(record["step"]["context"], "stride1[N=1,fp32]");
    EXPECT_EQ(record["step"]["index"], i);
    EXPECT_EQ(record["step"]["tasks"].size(), record["nodes"].get<std::size_t>());
    EXPECT_EQ(record["step"]["after"], i == 0 ? "" : kUnitSteps[i - 1]);
  }
  // relu_grad_cast removes the conversion of a gradient, concat_nchw removes several.
  const auto& records = json_["records"];
  EXPECT_LT(records[3]["trans_data"], records[2]["trans_data"]);
  EXPECT_LT(records[4]["trans_data"], records[3]["trans_data"]);
}

// Perfetto drops events before 0.
TEST_F(ContextFiles, NoEventOfTheTraceComesBeforeItsBegin) {
  const auto trace = nlohmann::json::parse(read("trace.json"));
  int slices = 0;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    ++slices;
    EXPECT_GE(event["ts"].get<double>(), 0) << event;
  }
  EXPECT_GT(slices, 2 * 6) << "two samples of each step, and the tasks";
}

TEST_F(ContextFiles, OpSummaryHasEveryTask) {
  std::vector<std::string> names, models, types;
  for (const auto& record : json_["records"]) {
    for (const auto& task : record["step"]["tasks"]) {
      names.push_back(task["name"]);
      types.push_back(task["type"]);
      models.push_back("stride1[N=1,fp32] " + record["variant"].get<std::string>());
    }
  }
  EXPECT_EQ(column(summary_, "Op Name"), names);
  EXPECT_EQ(column(summary_, "OP Type"), types);
  EXPECT_EQ(column(summary_, "Model Name"), models);
  for (const csv::Row& row : summary_) EXPECT_EQ(row.size(), summary_[0].size());
  for (const std::string& time : column(summary_, "Task Duration(us)")) {
    EXPECT_GE(std::stod(time), 0);
  }
}

TEST_F(ContextFiles, OpStatisticAddsUpToOpSummary) {
  std::map<std::pair<std::string, std::string>, int> tasks, counted;
  const std::vector<std::string> models = column(summary_, "Model Name");
  const std::vector<std::string> types = column(summary_, "OP Type");
  for (std::size_t i = 0; i < models.size(); ++i) ++tasks[{models[i], types[i]}];
  const std::vector<std::string> models_counted = column(statistic_, "Model Name");
  const std::vector<std::string> types_counted = column(statistic_, "OP Type");
  const std::vector<std::string> counts = column(statistic_, "Count");
  for (std::size_t i = 0; i < counts.size(); ++i) {
    counted[{models_counted[i], types_counted[i]}] += std::stoi(counts[i]);
  }
  EXPECT_EQ(counted, tasks);
}

TEST_F(ContextFiles, ReproduceLineRunsTheStepAlone) {
  const std::string line = json_["records"][2]["reproduce"];
  EXPECT_THAT(line, StartsWith("opbench --cases "));
  const Outcome again =
      shell("'" + program() + "'" + line.substr(7) + " --time 0.01 --repetitions 2");
  EXPECT_EQ(again.code, 0) << line << again.out << again.err;
  EXPECT_THAT(again.out, HasSubstr("stride1[N=1,fp32]  (1x58x28x28, "));
  EXPECT_THAT(again.out, HasSubstr("1 case, 1 result: 1 passed."));
}

}  // namespace
}  // namespace opbench
