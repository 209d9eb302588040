#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "harness/context_plan.h"
#include "harness/plan.h"
#include "tensor/error.h"

namespace opbench {
namespace {

std::vector<std::string> case_files() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(OPBENCH_SOURCE_DIR "/cases")) {
    if (entry.path().extension() == ".yaml") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<PlannedCase> plan_of(const std::string& path) {
  RunOptions options;
  options.case_files = {path};
  return make_plan(options);
}

// Gradients count where the graph of a case reaches them.
void add_ops(const std::vector<PlannedCase>& plan, std::set<std::string_view>& ops) {
  for (const PlannedCase& planned : plan) {
    for (const Node& node : planned.graph.nodes) ops.insert(node.problem.op->name);
  }
}

TEST(Cases, EveryFilePlans) {
  ASSERT_FALSE(case_files().empty());
  for (const std::string& path : case_files()) {
    SCOPED_TRACE(path);
    RunOptions options;
    options.case_files = {path};
    EXPECT_NO_THROW(EXPECT_FALSE(plan_of(path).empty() && make_context_plan(options).empty()));
  }
}

TEST(Cases, EveryListOfShapesPlansWithAnOperator) {
  for (const std::string& path : case_files()) {
    if (load_case_file(path, {}).shapes.empty()) continue;
    SCOPED_TRACE(path);
    RunOptions options;
    options.ops = {"softplus"};
    options.shapes_file = path;
    EXPECT_NO_THROW(EXPECT_FALSE(make_plan(options).empty()));
  }
}

// A case that no variant takes would be skipped as a whole: nothing is timed.
TEST(Cases, EveryCaseHasAVariant) {
  for (const std::string& path : case_files()) {
    for (const PlannedCase& planned : plan_of(path)) {
      EXPECT_TRUE(std::any_of(planned.variants.begin(), planned.variants.end(),
                              [](const Selection& s) { return s.refusal.empty(); }))
          << planned.spec.origin << ": " << case_id(planned.spec);
    }
  }
}

TEST(Cases, NoFileHasACaseTwice) {
  for (const std::string& path : case_files()) {
    std::set<std::string> seen;
    for (const PlannedCase& planned : plan_of(path)) {
      const std::string id = case_id(planned.spec) + " " + planned.spec.name;
      EXPECT_TRUE(seen.insert(id).second) << planned.spec.origin << ": " << id;
    }
  }
}

TEST(Cases, EveryOperatorHasOne) {
  std::set<std::string_view> covered;
  for (const std::string& path : case_files()) add_ops(plan_of(path), covered);
  for (const Op* op : RegisteredOp::all()) {
    EXPECT_TRUE(covered.contains(op->name)) << op->name << " is in no case of cases/*.yaml";
  }
}

}  // namespace
}  // namespace opbench
