#include <gmock/gmock.h>

#include <cmath>

#include "tensor/error.h"
#include "tests/evaluate.h"

namespace opbench {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsNan;
using testing::ThrowsMessage;

TEST(Mean, HandComputed) {
  EXPECT_THAT(reference_values("mean", DType::fp32, {{1, 2, 6}}), ElementsAre(3));
}

TEST(Mean, OfNothingIsNaN) {
  EXPECT_THAT(reference_values("mean", DType::fp32, {{}}), ElementsAre(IsNan()));
}

TEST(Mean, GivesAScalar) {
  const Op& op = find_op("mean");
  EXPECT_TRUE(make_problem(op, {describe(DType::fp16, {2, 3})}, Attrs()).outputs[0].shape.empty());
}

TEST(MeanGrad, SharesTheGradientOut) {
  EXPECT_THAT(reference_values("mean_grad", DType::fp32, {{2}, {7, 8, 9, 10}}, {}, true),
              ElementsAre(0.5, 0.5, 0.5, 0.5));
}

TEST(MeanGrad, WantsAScalarGradient) {
  EXPECT_THAT(
      [] {
        reference_values("mean_grad", DType::fp32, {{1, 2}, {1, 2}});
      },
      ThrowsMessage<Error>(HasSubstr("'grad_output' must be a scalar, found shape 2")));
}

// (1 + 2 + ... + n)/n = (n+1)/2. The length exceeds one block of the reference and one slab of the
// kernels.
TEST(Mean, KernelsSumLongTensors) {
  std::vector<double> x(100001);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = double(i % 1000);
  const double expected = reference_values("mean", DType::fp32, {x})[0];
  for (const char* variant : {"native", "reduce_mean"}) {
    EXPECT_NEAR(kernel_values("mean", variant, DType::fp32, {x})[0], expected, 1e-4) << variant;
  }
}

// ReduceMean scales first. With x = 3 and n = 3 each term is fl(3 * fl(1/3)), which is 1 again in
// fp32. The device's order shows only if 1/n is inexact and terms are tiny: 3 * 2^-149 / 3
// vanishes.
TEST(Mean, ReduceMeanScalesBeforeItSums) {
  const std::vector<double> tiny(3, 0x1p-149);
  EXPECT_THAT(kernel_values("mean", "native", DType::fp32, {tiny}),
              ElementsAre(DoubleEq(0x1p-149)));
  EXPECT_THAT(kernel_values("mean", "reduce_mean", DType::fp32, {tiny}), ElementsAre(0));
}

}  // namespace opbench
