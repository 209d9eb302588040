#include <gmock/gmock.h>

#include <cmath>

#include "tensor/error.h"
#include "tests/ops/values.h"

namespace opbench {
namespace {

using testing::HasSubstr;
using testing::Pointwise;
using testing::ThrowsMessage;

void expect_gradient(const char* shares, const std::vector<double>& expected) {
  const double ln2 = std::log(2.0), ln4 = std::log(4.0);
  const std::vector<Given> inputs = {
      {kFp32, {1, 2}, {1, 3}}, {kFp32, {1, 3}, {ln2, 0, ln4}}, {DType::int32, {1, 2}, {2, 0}}};
  const AttrTexts attrs = {{"shares", shares}, {"factor", "7"}};
  const char* const op = "moe_gating_grad";
  const auto near = Pointwise(testing::DoubleNear(1e-5), expected);
  EXPECT_THAT(reference_of_tensors(op, inputs, attrs)[0], near) << shares;
  EXPECT_THAT(kernel_on_tensors(op, "native", inputs, attrs)[0], near) << shares;
}

}  // namespace

// Shares 2/7, 1/7, 4/7; dy of experts 2 and 0 is 1 and 3, times 7.
TEST(MoeGatingGrad, Softmax) {
  const double sum = 7 * (4 + 6) / 7.0;
  expect_gradient("softmax", {2 * (21 - sum) / 7, -sum / 7, 4 * (7 - sum) / 7});
}

// Shares 1/3 and 2/3 of the chosen ones: the mean of dy is 5/3.
TEST(MoeGatingGrad, SoftmaxOfTheChosen) {
  expect_gradient("chosen", {7 * (3 - 5 / 3.0) / 3, 0, 7 * (1 - 5 / 3.0) * 2 / 3});
}

// Sigmoids 2/3 and 4/5, with the sum 22/15; slopes 2/9 and 4/25.
TEST(MoeGatingGrad, SigmoidsOverTheirSum) {
  const double sum = 22 / 15.0, mean = (4 / 5.0 + 3 * 2 / 3.0) / sum;
  expect_gradient("sigmoid", {7 * (3 - mean) / sum * 2 / 9, 0, 7 * (1 - mean) / sum * 4 / 25});
}

TEST(MoeGatingGrad, NoChosenExpert) {
  const std::vector<Given> inputs = {
      {kFp32, {1, 0}, {}}, {kFp32, {1, 2}, {1, 2}}, {DType::int32, {1, 0}, {}}};
  EXPECT_THAT(kernel_on_tensors("moe_gating_grad", "native", inputs)[0],
              testing::ElementsAre(0, 0));
}

// The sigmoid of -100 is below the smallest normal number of fp32.
TEST(MoeGatingGrad, ASmallSigmoidMayBeZero) {
  const Problem problem = problem_with(find_op("moe_gating_grad"), {{1, 1}, {1, 2}, {1, 1}},
                                       {{"shares", "sigmoid"}}, kFp32);
  const float dy[] = {1}, x[] = {-100, 0};
  const std::int32_t expert[] = {0};
  const std::vector<InputReader> readers = {
      {problem.inputs[0], dy}, {problem.inputs[1], x}, {problem.inputs[2], expert}};
  std::vector<double> exact(2), terms(2);
  problem.op->reference(readers, problem.attrs)(0, {0, 2}, exact);
  problem.op->terms(readers, problem.attrs).magnitude(0, {0, 2}, terms);
  EXPECT_GT(exact[0], 0);
  EXPECT_GT(terms[0] * 0x1p-24, exact[0]);
}

TEST(MoeGatingGrad, Refusals) {
  const auto refused = [](const Given& experts, const char* text) {
    EXPECT_THAT(
        [&] {
          reference_of_tensors("moe_gating_grad",
                               {{kFp32, {1, 1}, {1}}, {kFp32, {1, 3}, {1, 2, 3}}, experts});
        },
        ThrowsMessage<Error>(HasSubstr(text)));
  };
  refused({DType::int32, {1, 2}, {0, 1}}, "allowed: [tokens, k], [tokens, experts], [tokens, k]");
  refused({DType::int32, {1, 1}, {3}}, "expert_idx[0] is 3; allowed: 0 to 2");
}

}  // namespace opbench
