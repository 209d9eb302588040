#include <gmock/gmock.h>

#include <cmath>

#include "tests/evaluate.h"
#include "tests/support.h"
#include "tests/support/non_finite.h"

namespace opbench {

using testing::ElementsAre;
using testing::IsNan;

TEST(Relu, KeepsPositiveNumbersAndNaN) {
  EXPECT_THAT(reference_values("relu", DType::fp32, {{-1, 0, 2, kInf, -kInf, kNan}}),
              ElementsAre(0, 0, 2, kInf, 0, IsNan()));
}

// Compare and select: a closed gate gives exactly 0 even for an infinite gradient, a NaN feature
// passes it.
TEST(ReluGrad, SelectsByTheFeature) {
  EXPECT_THAT(
      reference_values("relu_grad", DType::fp32, {{5, 6, 7, kInf, 9}, {-1, 0, 2, -1, kNan}}),
      ElementsAre(0, 0, 7, 0, 9));
}

// The mask of 910A: a closed gate times an infinite gradient is NaN, and 2^-127, half the smallest
// normal number, lets half the gradient through.
TEST(ReluGrad, MaskOf910A) {
  on_every_isa([] {
    EXPECT_THAT(kernel_values("relu_grad", "relu_grad", DType::fp32,
                              {{kInf, 6, 7, 8, -9, 10}, {-1, 0, 0x1p-127, 0x1p-149, 0x1p-126, -2}}),
                ElementsAre(IsNan(), 0, 3.5, 8 * 0x1p-23, -9, 0));
    EXPECT_THAT(kernel_values("relu_grad", "relu_grad", DType::bf16,
                              {{kInf, 7, 8, -9}, {-1, 0x1p-127, 0x1p-133, 3}}),
                ElementsAre(IsNan(), 3.5, 8 * 0x1p-7, -9));
  });
}

// fp16's constant is the smallest subnormal itself: every positive feature opens the gate.
TEST(ReluGrad, MaskOf910AIsNeverAFractionInHalf) {
  on_every_isa([] {
    EXPECT_THAT(kernel_values("relu_grad", "relu_grad", DType::fp16,
                              {{kInf, 6, 7, -8, kInf}, {-1, 0x1p-24, 0x1.8p-15, 65504, 0x1p-24}}),
                ElementsAre(IsNan(), 6, 7, -8, kInf));
  });
}

}  // namespace opbench
