#include <gmock/gmock.h>

#include <cmath>

#include "tensor/error.h"
#include "tests/ops/finite_difference.h"

namespace opbench {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// exp of 0, ln 2, ln 5 is 1, 2, 5. fp32 cannot hold ln 2 and ln 5, so the logits are rounded.
TEST(Softmax, HandComputed) {
  const double ln2 = double(float(std::log(2.0))), ln5 = double(float(std::log(5.0)));
  const Values y = reference_of_tensors("softmax", {{DType::fp32, {1, 3}, {0, ln2, ln5}}});
  EXPECT_THAT(
      y[0], ElementsAre(DoubleNear(0.125, 1e-7), DoubleNear(0.25, 1e-7), DoubleNear(0.625, 1e-7)));
  // Along the columns, 0 and ln 2 have shares 1/3 and 2/3.
  const Values columns =
      reference_of_tensors("softmax", {{DType::fp32, {2, 2}, {0, ln2, ln2, ln2}}}, {{"dim", "0"}});
  EXPECT_THAT(columns[0], ElementsAre(DoubleNear(1.0 / 3, 1e-7), DoubleNear(0.5, 1e-7),
                                      DoubleNear(2.0 / 3, 1e-7), DoubleNear(0.5, 1e-7)));
}

TEST(Softmax, LargeLogitsDoNotOverflow) {
  for (const char* variant : {"native", "softmax_v2"}) {
    EXPECT_THAT(
        kernel_on_tensors("softmax", variant, {{DType::fp32, {1, 3}, {1e30, 1e30, -1e30}}})[0],
        ElementsAre(0.5, 0.5, 0));
  }
}

// (dy - sum(dy*y))*y with y = 1/4, 3/4 and dy = 4, 8. The sum is 7.
TEST(SoftmaxGrad, HandComputed) {
  EXPECT_THAT(reference_of_tensors("softmax_grad", {{DType::fp32, {1, 2}, {4, 8}},
                                                    {DType::fp32, {1, 2}, {0.25, 0.75}}})[0],
              ElementsAre(-0.75, 0.75));
}

// The logarithms of the shares 1/8, 1/4 and 5/8.
TEST(LogSoftmax, HandComputed) {
  const double ln2 = double(float(std::log(2.0))), ln5 = double(float(std::log(5.0)));
  const std::vector<Given> x = {{DType::fp32, {1, 3}, {0, ln2, ln5}}};
  const auto expected =
      ElementsAre(DoubleNear(std::log(0.125), 1e-6), DoubleNear(std::log(0.25), 1e-6),
                  DoubleNear(std::log(0.625), 1e-6));
  EXPECT_THAT(reference_of_tensors("log_softmax", x)[0], expected);
  for (const char* variant : {"native", "log_softmax_v2"}) {
    EXPECT_THAT(kernel_on_tensors("log_softmax", variant, x)[0], expected);
    EXPECT_THAT(kernel_on_tensors("log_softmax", variant, {{DType::fp32, {2, 2}, {0, 7, 0, 7}}},
                                  {{"dim", "0"}})[0],
                testing::Each(DoubleNear(-std::log(2.0), 1e-6)));
    // The share underflows, but its logarithm does not.
    EXPECT_THAT(
        kernel_on_tensors("log_softmax", variant, {{DType::fp32, {1, 2}, {1e30, -1e30}}})[0],
        ElementsAre(0, double(-2e30f)));
  }
}

// dy - exp(y)*sum(dy) with exp(y) = 1 and 0, and a sum of 12.
TEST(LogSoftmaxGrad, HandComputed) {
  for (const char* variant : {"native", "log_softmax_grad"}) {
    EXPECT_THAT(
        kernel_on_tensors("log_softmax_grad", variant,
                          {{DType::fp32, {1, 2}, {4, 8}}, {DType::fp32, {1, 2}, {0, -1000}}})[0],
        ElementsAre(-8, 8));
    EXPECT_THAT(
        kernel_on_tensors("log_softmax_grad", variant,
                          {{DType::fp32, {2, 1}, {4, 8}}, {DType::fp32, {2, 1}, {0, -1000}}},
                          {{"dim", "0"}})[0],
        ElementsAre(-8, 8));
  }
}

TEST(Softmax, GradientsAgreeWithFiniteDifferences) {
  expect_gradients({"softmax", {spread({3, 4})}});
  expect_gradients({"softmax", {spread({2, 3, 4})}, {{"dim", "1"}}});
  expect_gradients({"log_softmax", {spread({3, 4})}});
  expect_gradients({"log_softmax", {spread({2, 3, 4})}, {{"dim", "1"}}});
}

TEST(Softmax, NamesWhatItRefuses) {
  EXPECT_THAT(
      [] {
        problem_with(find_op("softmax"), {{2, 3}}, {{"dim", "2"}}, DType::fp32);
      },
      ThrowsMessage<Error>(HasSubstr("softmax: axis 2 is out of range for shape 2x3")));
}

}  // namespace opbench
