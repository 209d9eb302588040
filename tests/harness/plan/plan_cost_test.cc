#include "harness/plan/plan_cost.h"

#include <gtest/gtest.h>

#include "tests/harness/context_support.h"

namespace opbench {

TEST(PlanCost, TransDataComeFirstThenCastsCopiesAndBytes) {
  const PlanCost least{1, 2, 3, 4, 0};
  EXPECT_LT(least, (PlanCost{2, 0, 0, 0, 0}));
  EXPECT_LT(least, (PlanCost{1, 3, 0, 0, 0}));
  EXPECT_LT(least, (PlanCost{1, 2, 4, 0, 0}));
  EXPECT_LT(least, (PlanCost{1, 2, 3, 5, 0}));
  EXPECT_EQ(least, (PlanCost{1, 2, 3, 4, 9})) << "bytes of TransData are in the bytes";
}

// Relu reads and writes 256 fp16 once; TransData the same before it.
TEST(PlanCost, AddsUpTasks) {
  ContextBuilder builder("pool");
  builder.input("x", {1, 16, 4, 4})
      .node("relu", {"x"}, {"y"})
      .node("max_pool2d", {"y"}, {"z"})
      .output("z");
  const PlannedStep step = builder.plan(builder.step(), DType::fp16);
  const PlanCost cost = plan_cost(step.graph, step.selection);
  EXPECT_EQ(cost.trans_data, 2) << "to NC1HWC0 for the pool, and its output back";
  EXPECT_EQ(cost.casts, 0);
  EXPECT_EQ(cost.trans_data_bytes, 2 * 512 + 2 * 128);
  EXPECT_GE(cost.bytes, cost.trans_data_bytes + 2 * 512);
}

}  // namespace opbench
