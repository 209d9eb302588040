#include "compare/checkpoint_names.h"

#include <gtest/gtest.h>

namespace opbench {

TEST(CheckpointNames, AreThoseOfTheParameters) {
  EXPECT_EQ(checkpoint_name("/conv1.weight"), "/conv1.weight");
  EXPECT_EQ(checkpoint_name("/state_dict/module.conv1.weight"), "/conv1.weight");
  EXPECT_EQ(checkpoint_name("/optim/state/0/exp_avg"), "/optimizer/state/0/exp_avg");
  EXPECT_EQ(checkpoint_name("/ema/module.w"), "/ema/w");
}

}  // namespace opbench
