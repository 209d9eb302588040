#include "harness/plan/ladder.h"

#include <gtest/gtest.h>

#include "tests/harness/plan/remedy_support.h"

namespace opbench {
namespace {

class LadderTest : public testing::Test {
 protected:
  Point written() const { return Point(step_.choices.size()); }
  void set(Point& point, const std::string& name, const std::string& word) const {
    for (std::size_t i = 0; i < step_.choices.size(); ++i) {
      const auto& words = step_.choices[i].words;
      if (step_.choices[i].name != name) continue;
      point[i] = std::size_t(std::find(words.begin(), words.end(), word) - words.begin());
    }
  }
  FoundPlan found(const Point& point) { return {point, *step_.search.cost_of(point)}; }

  const Context context_ = context_in("shufflenet_v2_unit.yaml", "stride1");
  StepSearch step_{context_, context_.steps.front(), DType::fp32};
};

}  // namespace

// The largest gain first: concat_output_nchw spares 14 of 21 TransData, relu_grad_cast another.
TEST_F(LadderTest, TakesWhatSparesMostFirst) {
  Point goal = written();
  set(goal, "relu_grad_cast", "true");
  set(goal, "concat_output_nchw", "true");
  const auto steps = ladder_to(found(goal), found(written()).cost, step_.search);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].cost.trans_data, 7);
  EXPECT_EQ(steps[1].cost.trans_data, 6);
  EXPECT_EQ(steps[1].point, goal);
}

// axpy_equal_shapes has nothing to do in a context without an update.
TEST_F(LadderTest, LeavesOutWhatSparesNothing) {
  Point goal = written();
  set(goal, "concat_output_nchw", "true");
  set(goal, "axpy_equal_shapes", "true");
  const auto steps = ladder_to(found(goal), found(written()).cost, step_.search);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(changes_of(steps[0].point), 1u);
}

TEST_F(LadderTest, IsEmptyAtTheGoal) {
  EXPECT_TRUE(ladder_to(found(written()), found(written()).cost, step_.search).empty());
}

TEST_F(LadderTest, ADescentIsBetterThanItsStart) {
  const FoundPlan start = found(written());
  const FoundPlan end = descend(start, step_.choices, step_.search);
  EXPECT_LT(end.cost, start.cost);
  EXPECT_EQ(end.cost, *step_.search.cost_of(end.point));
}

}  // namespace opbench
