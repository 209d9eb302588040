#include "ops/quantise.h"

#include <gtest/gtest.h>

#include <cmath>

namespace opbench {

TEST(Steps, RoundAndClip) {
  const Steps int8 = steps_of(DType::int8);
  EXPECT_EQ(int8(2.5), 2) << "half to even";
  EXPECT_EQ(int8(-129), -128);
  EXPECT_EQ(int8(1e9), 127);
  EXPECT_EQ(int8(std::nan("")), 0);
  EXPECT_EQ(steps_of(DType::int8, StepRounding::floor)(-0.5), -1);
  EXPECT_EQ(steps_of(DType::int8, StepRounding::ceil)(0.25), 1);
  EXPECT_EQ(steps_of(DType::int8, StepRounding::trunc)(-1.75), -1);
  EXPECT_EQ(steps_of(DType::int4)(8), 7);
  EXPECT_EQ(steps_of(DType::int4).width(), 15);
  EXPECT_EQ(steps_of(DType::fp8_e4m3fn)(1e6), 448) << "saturates";
  EXPECT_EQ(steps_of(DType::hif8)(1.0625), 1.125) << "half away from zero";
}

}  // namespace opbench
