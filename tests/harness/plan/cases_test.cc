#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "harness/plan/case_plan.h"
#include "harness/plan/context_plan.h"
#include "harness/plan/selected_kernels.h"
#include "tensor/error.h"
#include "tests/support/source_tree.h"

namespace opbench {
namespace {

std::vector<std::string> case_files() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(source_file("cases"))) {
    if (entry.path().extension() == ".yaml") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<PlannedCase> plan_of(const std::string& path) {
  CaseSelection selection;
  selection.case_files = {path};
  return make_case_plan(selection);
}

std::vector<PlannedContext> contexts_of(const std::string& path) {
  CaseSelection selection;
  selection.case_files = {path};
  return make_context_plan(selection);
}

// Gradients count if the graph of a case has them.
void add_ops(const std::vector<PlannedCase>& plan, std::set<std::string_view>& ops) {
  for (const PlannedCase& planned : plan) {
    for (const Node& node : planned.graph.nodes) ops.insert(node.problem.op->name);
  }
}

TEST(Cases, EveryFilePlans) {
  ASSERT_FALSE(case_files().empty());
  for (const std::string& path : case_files()) {
    SCOPED_TRACE(path);
    EXPECT_NO_THROW(EXPECT_FALSE(plan_of(path).empty() && contexts_of(path).empty()));
  }
}

// A step without a kernel does not plan. A step that cannot run here has its reason in the file.
TEST(Cases, EveryStepOfEveryContextHasATaskAndResults) {
  std::size_t contexts = 0;
  for (const std::string& path : case_files()) {
    std::set<std::string> seen;
    for (const PlannedContext& planned : contexts_of(path)) {
      ++contexts;
      SCOPED_TRACE(planned.spec.origin + ": " + planned.id());
      EXPECT_TRUE(seen.insert(planned.id()).second) << "stands twice";
      for (const PlannedStep& step : planned.steps) {
        EXPECT_EQ(step.refusal(), step.spec.not_applicable);
        if (!step.refusal().empty()) continue;
        EXPECT_FALSE(step.graph.nodes.empty()) << step.spec.name;
        EXPECT_FALSE(step.results.empty()) << step.spec.name;
        EXPECT_EQ(step.selection.kernels.size(), step.graph.nodes.size()) << step.spec.name;
        EXPECT_LE(step.memory.bytes, step.memory.unshared_bytes) << step.spec.name;
      }
    }
  }
  EXPECT_GE(contexts, 4u);
}

TEST(Cases, EveryListOfShapesPlansWithAnOperator) {
  for (const std::string& path : case_files()) {
    if (load_case_file(path, {}).shapes.empty()) continue;
    SCOPED_TRACE(path);
    CaseSelection selection;
    selection.ops = {"softplus"};
    selection.shapes_file = path;
    EXPECT_NO_THROW(EXPECT_FALSE(make_case_plan(selection).empty()));
  }
}

// A case without a variant would be skipped, and nothing would be timed.
TEST(Cases, EveryCaseHasAVariant) {
  for (const std::string& path : case_files()) {
    for (const PlannedCase& planned : plan_of(path)) {
      EXPECT_TRUE(std::any_of(planned.variants.begin(), planned.variants.end(),
                              [](const SelectedKernels& s) { return s.refusal.empty(); }))
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
    if (op->name.starts_with("test_")) continue;  // registered by this program only
    EXPECT_TRUE(covered.contains(op->name)) << op->name << " is in no case of cases/*.yaml";
  }
}

}  // namespace
}  // namespace opbench
