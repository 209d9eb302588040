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

// Select returns exactly 0 for a closed gate, even for an infinite gradient. A NaN feature passes
// the gradient.
TEST(ReluGrad, SelectsByTheFeature) {
  EXPECT_THAT(
      reference_values("relu_grad", DType::fp32, {{5, 6, 7, kInf, 9}, {-1, 0, 2, -1, kNan}}),
      ElementsAre(0, 0, 7, 0, 9));
}

// The 910A multiplies by a mask. A closed gate times an infinite gradient is NaN. 2^-127, half the
// smallest normal number, lets half of the gradient through.
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

// The constant of fp16 is the smallest subnormal number, so every positive feature opens the gate.
TEST(ReluGrad, MaskOf910AIsNeverAFractionInHalf) {
  on_every_isa([] {
    EXPECT_THAT(kernel_values("relu_grad", "relu_grad", DType::fp16,
                              {{kInf, 6, 7, -8, kInf}, {-1, 0x1p-24, 0x1.8p-15, 65504, 0x1p-24}}),
                ElementsAre(IsNan(), 6, 7, -8, kInf));
  });
}

}  // namespace opbench
