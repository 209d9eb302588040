#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/on_tensors.h"

namespace opbench {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Sum, HandComputed) {
  EXPECT_THAT(reference_values("sum", DType::fp32, {{1, 2, 6}}), ElementsAre(9));
  EXPECT_THAT(reference_values("sum", DType::fp32, {{}}), ElementsAre(0));
}

TEST(Sum, GivesAScalar) {
  const Op& op = find_op("sum");
  EXPECT_TRUE(make_problem(op, {describe(DType::fp16, {2, 3})}, Attrs()).outputs[0].shape.empty());
}

// 100000 * 0.25 in fp16: a sum in fp16 would stop growing at 512.
TEST(Sum, KernelsAddFp16InFp32) {
  const std::vector<double> quarters(100001, 0.25);
  for (const char* variant : {"native", "reduce_sum_d"}) {
    EXPECT_THAT(kernel_values("sum", variant, DType::fp16, {quarters}), ElementsAre(25008))
        << variant << ": 25000.25 rounded to fp16, whose step is 16 there";
    EXPECT_THAT(kernel_values("sum", variant, DType::fp32, {quarters}), ElementsAre(25000.25))
        << variant;
  }
}

TEST(SumGrad, RepeatsTheGradientOut) {
  EXPECT_THAT(reference_values("sum_grad", DType::fp32, {{2}, {7, 8, 9, 10}}, {}, true),
              ElementsAre(2, 2, 2, 2));
  EXPECT_THAT(
      kernel_values("sum_grad", "native", DType::fp16, {{-3}, std::vector<double>(70)}, {}, true),
      Each(-3));
}

TEST(SumGrad, RepeatsAlongAxes) {
  const std::vector<Given> inputs = {{DType::fp32, {2}, {5, 6}},
                                     {DType::fp32, {3, 2}, std::vector<double>(6)}};
  const AttrTexts rows = {{"axes", "[0]"}};
  EXPECT_THAT(reference_of_tensors("sum_grad", inputs, rows)[0], ElementsAre(5, 6, 5, 6, 5, 6));
  EXPECT_THAT(kernel_on_tensors("sum_grad", "native", inputs, rows)[0],
              ElementsAre(5, 6, 5, 6, 5, 6));
  EXPECT_THAT(
      [&] {
        reference_of_tensors("sum_grad", inputs, {{"axes", "[1]"}});
      },
      ThrowsMessage<Error>(HasSubstr("'grad_output' has shape 2; allowed: 3, the reduced shape")));
}

TEST(SumGrad, WantsAScalarGradient) {
  EXPECT_THAT(
      [] {
        reference_values("sum_grad", DType::fp32, {{1, 2}, {1, 2}});
      },
      ThrowsMessage<Error>(
          HasSubstr("sum_grad: input 'grad_output' must be a scalar, found shape 2")));
}

}  // namespace opbench
