#include "harness/run/load_plan.h"

#include <gmock/gmock.h>

#include <sstream>

#include "tensor/error.h"
#include "tests/support/written_dump.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

class LoadPlanTest : public testing::Test, protected WrittenDump {
 protected:
  /// Adds an operator with one input and one result of this shape.
  void unary(const std::string& op, int seq, const Dims& shape) {
    const std::vector<double> values(static_cast<std::size_t>(element_count(shape)), 1);
    record(op, seq);
    input("self", DType::fp32, shape, values);
    output("result", DType::fp32, shape, values);
  }
  LoadPlan plan(const LoadSelection& selection = {}) {
    return plan_load(source(), OpTable::builtin(), selection);
  }
};

std::vector<std::string> names_of(const LoadPlan& plan) {
  std::vector<std::string> all;
  for (const WorkUnit& unit : plan.units) all.push_back(unit.name());
  return all;
}

}  // namespace

// 6 + 6 + 4 of the 21 recorded elements are run.
TEST_F(LoadPlanTest, CountsWhatIsRunAndWhatIsNot) {
  unary("relu", 1, {2, 3});
  unary("unheard_of", 2, {5});
  unary("relu", 3, {2, 3});
  unary("tanh", 4, {4});
  const LoadPlan found = plan();
  EXPECT_EQ(found.records, 4);
  EXPECT_EQ(found.elements, 21);
  EXPECT_EQ(found.run_records, 3);
  EXPECT_EQ(found.run_elements, 16);
  ASSERT_THAT(found.left_out, SizeIs(1));
  EXPECT_EQ(found.left_out[0].op, "unheard_of");
  EXPECT_EQ(found.left_out[0].records, 1);
  EXPECT_EQ(found.left_out[0].elements, 5);
  std::ostringstream out;
  print_coverage(out, found);
  EXPECT_THAT(out.str(), StartsWith("3 of 4 records of "));
  EXPECT_THAT(out.str(), HasSubstr("with 76.2 % of the elements of all results\n"));
  EXPECT_THAT(out.str(), HasSubstr("  unheard_of 1x, 23.8 % of all elements: "));
}

// Two calls of one shape are one case that runs twice. The other call runs once.
TEST_F(LoadPlanTest, CountsCallsOfOneShape) {
  unary("relu", 1, {2, 3});
  unary("relu", 2, {3, 2});
  unary("relu", 3, {2, 3});
  const LoadPlan found = plan();
  EXPECT_THAT(names_of(found), ElementsAre("/relu/1", "/relu/2", "/relu/3"));
  EXPECT_FALSE(found.units[0].is_repeat);
  EXPECT_TRUE(found.units[2].is_repeat);
  EXPECT_EQ(found.units[0].planned_case->spec.count, 2);
  EXPECT_EQ(found.units[1].planned_case->spec.count, 1);
  EXPECT_EQ(found.units[2].planned_case->spec.count, 1);
}

TEST_F(LoadPlanTest, IsInTheOrderOfExecution) {
  unary("tanh", 10, {4});
  unary("relu", 9, {4});
  unary("exp", 2, {4});
  EXPECT_THAT(names_of(plan()), ElementsAre("/exp/2", "/relu/9", "/tanh/10"));
}

TEST_F(LoadPlanTest, TakesWhatIsWanted) {
  unary("relu", 1, {4});
  unary("relu", 2, {4});
  unary("tanh", 3, {4});
  LoadSelection selection;
  selection.only = [](std::string_view name) { return name == "relu/2" || name == "tanh"; };
  const LoadPlan found = plan(selection);
  EXPECT_THAT(names_of(found), ElementsAre("/relu/2", "/tanh/3"));
  EXPECT_EQ(found.records, 2);
}

// Without times the first variant that takes a call is enough. One variant is written to a dump.
TEST_F(LoadPlanTest, HasOneVariantWhereNothingIsTimed) {
  unary("relu", 1, {4});
  LoadSelection selection;
  selection.times = false;
  selection.dumps = true;
  const LoadPlan found = plan(selection);
  ASSERT_THAT(found.units, SizeIs(1));
  ASSERT_EQ(found.units[0].size(), 1U);
  EXPECT_EQ(found.units[0].record->variant, found.units[0].selection(0).variant);
  EXPECT_EQ(found.units[0].record->op, "relu");
  EXPECT_EQ(found.units[0].record->seq, 1);
  EXPECT_THAT(found.units[0].record->outputs, ElementsAre("result"));
  EXPECT_EQ(plan().units[0].record->variant, "") << "nothing is dumped";
}

TEST_F(LoadPlanTest, RefusesVariantsThatNoOperatorHas) {
  unary("relu", 1, {4});
  LoadSelection selection;
  selection.variants = {"reference"};
  const LoadPlan found = plan(selection);
  EXPECT_EQ(found.units.at(0).selection(0).variant, "reference");
  selection.variants = {"nothing_like_it"};
  EXPECT_THROW(plan(selection), Error);
}

TEST_F(LoadPlanTest, ShowsItsCases) {
  unary("relu", 1, {4});
  LoadSelection selection;
  selection.variants = {"reference"};
  selection.dumps = true;
  std::ostringstream out;
  print_loaded_cases(out, plan(selection));
  EXPECT_EQ(out.str(), "/relu/1  relu[4,fp32,ND]\n  reference  dumped\n");
}

}  // namespace opbench
