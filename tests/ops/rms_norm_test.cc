#include "ops/rms_norm.h"

#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/ops/finite_difference.h"
#include "tests/support.h"

namespace opbench {

using testing::HasSubstr;
using testing::ThrowsMessage;

namespace {

/// Checks the outputs of the reference, and of variants with every instruction set.
void expect_outputs(std::string_view op, const std::vector<const char*>& variants,
                    const std::vector<Given>& inputs, const Values& expected,
                    const AttrTexts& attrs = {}) {
  EXPECT_EQ(reference_of_tensors(op, inputs, attrs), expected);
  on_every_isa([&] {
    for (const char* variant : variants) {
      EXPECT_EQ(kernel_on_tensors(op, variant, inputs, attrs), expected) << variant;
    }
  });
}

const std::vector<const char*> kForward = {"native", "rms_norm"},
                               kGrad = {"native", "rms_norm_grad"};

}  // namespace

// The rows have mean squares of 16 and 1.
TEST(RmsNorm, HandComputed) {
  const Given x{DType::fp32, {2, 2}, {4, -4, 1, 1}}, weight{DType::fp32, {2}, {2, 4}};
  expect_outputs("rms_norm", kForward, {x}, {{1, -1, 1, 1}, {0.25, 1}}, {{"epsilon", "0"}});
  expect_outputs("rms_norm", kForward, {x, weight}, {{2, -4, 2, 4}, {0.25, 1}}, {{"epsilon", "0"}});
}

// epsilon is inside of the root: 1/sqrt(1 + 3) = 1/2.
TEST(RmsNorm, AddsEpsilonToTheMeanSquare) {
  expect_outputs("rms_norm", kForward, {{DType::fp16, {1, 2}, {1, -1}}}, {{0.5, -0.5}, {0.5}},
                 {{"epsilon", "3"}});
  expect_outputs("rms_norm", kForward, {{DType::bf16, {1, 3}, {0, 0, 0}}}, {{0, 0, 0}, {2}},
                 {{"epsilon", "0.25"}});
}

TEST(RmsNorm, RowsHaveTheAxesOfTheWeight) {
  const Given x{DType::fp32, {1, 2, 2}, {2, 2, 0, 0}}, weight{DType::fp32, {2, 2}, {1, 2, 3, 4}};
  expect_outputs("rms_norm", kForward, {x, weight}, {{1, 2, 0, 0}, {0.5}}, {{"epsilon", "2"}});
  const Problem problem = problem_with(find_op("rms_norm"), {{2, 3, 4}, {3, 4}}, {}, DType::fp16);
  EXPECT_EQ(problem.outputs[1].shape, (Dims{2, 1, 1}));
  EXPECT_EQ(problem.outputs[1].dtype, DType::fp32);
}

TEST(RmsNorm, WeightMayBeWiderAndHaveAnOffset) {
  const Given x{DType::bf16, {1, 2}, {1, -1}}, weight{DType::fp32, {2}, {1, 3}};
  expect_outputs("rms_norm", kForward, {x, weight}, {{1, -2}, {0.5}},
                 {{"epsilon", "3"}, {"weight_offset", "1"}});
  const Problem problem =
      make_problem(find_op("rms_norm"), {describe(DType::bf16, {1, 2}), describe(DType::fp32, {2})},
                   Attrs(find_op("rms_norm").attrs));
  EXPECT_EQ(problem.outputs[0].dtype, DType::bf16);
}

// x*rstd is 0.99658, which rounds to 0.99609375 in bf16.
TEST(RmsNorm, FrameworksRoundBeforeTheWeight) {
  const std::vector<Given> inputs = {{DType::bf16, {1, 1}, {3.015625}},
                                     {DType::bf16, {1}, {1.0078125}}};
  const AttrTexts attrs = {{"epsilon", "0.0625"}};
  const auto value = [&](const char* variant) {
    return kernel_on_tensors("rms_norm", variant, inputs, attrs)[0][0];
  };
  EXPECT_EQ(value("native"), 1.0);          // 0.99609375 * 1.0078125 = 1.0038757 -> 1.0
  EXPECT_EQ(value("rms_norm"), 1.0078125);  // 0.99658 * 1.0078125 = 1.00437 -> 1.0078125
}

// Without rows the gradient of the weight is 0.
TEST(RmsNormGrad, SumOfNoRowsIsZero) {
  expect_outputs("rms_norm_grad", kGrad,
                 {{DType::fp32, {0, 2}, {}},
                  {DType::fp32, {0, 2}, {}},
                  {DType::fp32, {0, 1}, {}},
                  {DType::fp32, {2}, {1, 1}}},
                 {{}, {0, 0}});
}

// xn is -1, 1; g is 4, 8: mean(g*xn) = 2, dx = (g - 2*xn)/2.
TEST(RmsNormGrad, HandComputed) {
  const std::vector<Given> inputs = {{DType::fp32, {1, 2}, {4, 4}},
                                     {DType::fp32, {1, 2}, {-2, 2}},
                                     {DType::fp32, {1, 1}, {0.5}},
                                     {DType::fp32, {2}, {1, 2}}};
  expect_outputs("rms_norm_grad", kGrad, inputs, {{3, 3}, {-4, 4}});
  expect_outputs("rms_norm_grad", kGrad, {inputs.begin(), inputs.end() - 1}, {{2, 2}});
}

// The product dy*xn = 129*129 = 16641 has 15 bits, bf16 has 8.
TEST(RmsNormGrad, OlderKernelsRoundProducts) {
  const std::vector<Given> inputs = {{DType::bf16, {1, 1}, {129}},
                                     {DType::bf16, {1, 1}, {129}},
                                     {DType::fp32, {1, 1}, {1}},
                                     {DType::bf16, {1}, {1}}};
  EXPECT_EQ(kernel_on_tensors("rms_norm_grad", "rms_norm_grad", inputs)[1][0], 16641);
  EXPECT_EQ(kernel_on_tensors("rms_norm_grad", "rms_norm_grad_v1", inputs)[1][0], 16640);
}

TEST(RmsNorm, GradientsAgreeWithFiniteDifferences) {
  expect_gradients({"rms_norm", {spread({3, 5}), spread({5}, 1)}});
  expect_gradients({"rms_norm", {spread({3, 5})}});
  expect_gradients({"rms_norm", {spread({2, 2, 3}), spread({2, 3}, 1)}, {{"weight_offset", "1"}}});
}

TEST(RmsNorm, NamesWhatItRefuses) {
  const auto refused = [](const char* op, const std::vector<TensorDesc>& inputs, const char* text) {
    EXPECT_THAT([&] { make_problem(find_op(op), inputs, Attrs(find_op(op).attrs)); },
                ThrowsMessage<Error>(HasSubstr(text)));
  };
  const auto fp32 = [](const Dims& shape) { return describe(DType::fp32, shape); };
  refused("rms_norm", {fp32({2, 3}), fp32({2})}, "'self' has shape 2x3 and rows of 2");
  refused("rms_norm", {fp32({2, 3}), describe(DType::fp16, {3})},
          "'weight' is fp16; allowed: fp32");
  refused("rms_norm_grad", {fp32({2, 3}), fp32({2, 3}), fp32({3}), fp32({3})},
          "'rstd' has shape 3; allowed: 2x1, one number for each row");
}

}  // namespace opbench
