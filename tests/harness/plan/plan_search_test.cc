#include "harness/plan/plan_search.h"

#include <gtest/gtest.h>

#include "harness/plan/remedy.h"
#include "tests/harness/plan/remedy_support.h"

namespace opbench {
namespace {

class PlanSearchTest : public testing::Test {
 protected:
  Point written() const { return Point(step_.choices.size()); }
  std::size_t place(const std::string& name) const {
    for (std::size_t i = 0; i < step_.choices.size(); ++i) {
      if (step_.choices[i].name == name) return i;
    }
    throw std::runtime_error("no choice " + name);
  }
  Point with(const std::string& name, std::size_t word) const {
    Point point = written();
    point[place(name)] = word;
    return point;
  }

  const Context context_ = context_in("shufflenet_v2_unit.yaml", "stride1");
  StepSearch step_{context_, context_.steps.front(), DType::fp32};
};

}  // namespace

// Costs of the steps of the case file cases/shufflenet_v2_unit.yaml, step native.
TEST_F(PlanSearchTest, CountsThePlanOfAPoint) {
  const std::optional<PlanCost> cost = step_.search.cost_of(written());
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->trans_data, 21);
  EXPECT_EQ(cost->casts, 27);
  EXPECT_EQ(cost->copies, 6);
}

TEST_F(PlanSearchTest, PointsThatWriteTheSameShareAGraph) {
  PlanSearch& search = step_.search;
  const SearchGraph& graph = search.graph_of(written());
  EXPECT_EQ(&search.graph_of(with("relu_grad_cast", 1)), &graph);
  EXPECT_NE(&search.graph_of(with("cat_shuffle_split", 1)), &graph);
}

// Within one graph the walk finds the result of trying every single change and every pair.
TEST_F(PlanSearchTest, AWalkLooksThroughAGraph) {
  FoundPlan best{written(), *step_.search.cost_of(written())};
  step_.search.search(step_.search.graph_of(written()), best);
  EXPECT_EQ(best.cost, *step_.search.cost_of(best.point));
  EXPECT_GE(step_.search.plans_completed(), 1);
  for (std::size_t i = 0; i < step_.choices.size(); ++i) {
    if (step_.choices[i].is_graph) {
      EXPECT_EQ(best.point[i], 0u);
      continue;
    }
    for (std::size_t word = 0; word < step_.choices[i].words.size(); ++word) {
      Point other = best.point;
      other[i] = word;
      const std::optional<PlanCost> cost = step_.search.cost_of(other);
      if (!cost) continue;
      EXPECT_GE(*cost, best.cost) << step_.choices[i].name;
    }
  }
}

TEST_F(PlanSearchTest, StopsAtItsLimit) {
  PlanSearch search(step_.values, step_.choices, step_.written, 10);
  EXPECT_TRUE(search.is_complete());
  FoundPlan best{written(), *search.cost_of(written())};
  search.search(search.graph_of(written()), best);
  EXPECT_FALSE(search.is_complete());
  EXPECT_LT(search.tasks_planned(), 200);
}

}  // namespace opbench
