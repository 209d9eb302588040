#include <gmock/gmock.h>

#include <cmath>

#include "judge/judge_output.h"
#include "tests/evaluate.h"
#include "tests/ops/values.h"
#include "tests/support.h"
#include "tests/support/non_finite.h"

namespace opbench {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsNan;

}  // namespace

// Sources: PyTorch 1.13; sigmoid(1) is 0.731058578630005.
TEST(Activations, ByHand) {
  EXPECT_THAT(fp32_values("silu", {{0, 1, kInf}}),
              ElementsAre(0, DoubleNear(0.731058578630005, 1e-15), kInf));
  EXPECT_THAT(fp32_values("hardsigmoid", {{-4, -3, 0, 3, kInf, kNan}}),
              ElementsAre(0, 0, 0.5, 1, 1, IsNan()));
  EXPECT_THAT(fp32_values("hardswish", {{-4, -1.5, 0, 3, 7, kNan}}),
              ElementsAre(0, -0.375, 0, 3, 7, IsNan()));
  EXPECT_THAT(fp32_values("leaky_relu", {{-4, 0, 2}}, {{"negative_slope", "0.5"}}),
              ElementsAre(-2, 0, 2));
}

// Sources: PyTorch 1.13 in fp64; DLMF 7.2, erf(1).
TEST(Activations, Published) {
  const auto near = [](double x) { return DoubleNear(x, 1e-14); };
  EXPECT_THAT(fp32_values("mish", {{1, -1, -kInf}}),
              ElementsAre(near(0.8650983882673103), near(-0.30340146137410895), IsNan()));
  EXPECT_THAT(fp32_values("mish_grad", {{1, 1}, {1, -1}}),
              ElementsAre(near(1.0490362200997922), near(0.059216755877395014)));
  EXPECT_THAT(fp32_values("elu", {{-1, 3, -kInf, kNan}}),
              ElementsAre(near(-0.6321205588285577), 3, -1, IsNan()));
  EXPECT_THAT(fp32_values("elu_grad", {{1, 1, 1, 1}, {-1, 0, 3, kNan}}),
              ElementsAre(near(0.36787944117144233), 1, 1, IsNan()));
  EXPECT_THAT(fp32_values("elu", {{-1, 2}}, {{"alpha", "2"}, {"scale", "3"}, {"input_scale", "0"}}),
              ElementsAre(0, 6));
  EXPECT_THAT(fp32_values("erf", {{1, kInf}}), ElementsAre(near(0.842700792949714869), 1));
  EXPECT_THAT(fp32_values("erf_grad", {{1}, {0}}), ElementsAre(near(1.1283791670955126)));
  EXPECT_THAT(fp32_values("fast_gelu", {{1, 0}}), ElementsAre(near(1 / (1 + std::exp(-1.702))), 0));
  EXPECT_THAT(fp32_values("fast_gelu_grad", {{2}, {0}}), ElementsAre(1));
}

TEST(Activations, GradientsByHand) {
  EXPECT_THAT(fp32_values("silu_grad", {{4}, {0}}), ElementsAre(2));
  EXPECT_THAT(fp32_values("hardsigmoid_grad", {{6, 6, 6}, {-3, 0, 3}}),
              ElementsAre(0, DoubleNear(1, 1e-7), 0));
  // x/3 + 1/2 also counts at x = 3.
  EXPECT_THAT(fp32_values("hardswish_grad", {{2, 2, 2, 2, 2}, {-4, -1.5, 0, 3, 4}}),
              ElementsAre(0, 0, 1, 3, 2));
  EXPECT_THAT(fp32_values("leaky_relu_grad", {{4, 4}, {-1, 1}}, {{"negative_slope", "0.5"}}),
              ElementsAre(2, 4));
}

// Sources: PyTorch 1.13 at the limits and for NaN; log(2) is 0.693147180559945.
TEST(Activations, LimitsByHand) {
  const std::vector<double> x = {-2, -0.5, 0, 0.5, 0.75, kNan}, dy = {1, 2, 3, 4, 5, 6};
  EXPECT_THAT(fp32_values("hardshrink", {x}), ElementsAre(-2, 0, 0, 0, 0.75, IsNan()));
  EXPECT_THAT(fp32_values("softshrink", {x}), ElementsAre(-1.5, 0, 0, 0, 0.25, 0));
  EXPECT_THAT(fp32_values("shrink_grad", {dy, x}), ElementsAre(1, 0, 0, 0, 5, 6));
  const AttrTexts half = {{"threshold", "0.5"}, {"value", "20"}};
  EXPECT_THAT(fp32_values("threshold", {x}, half), ElementsAre(20, 20, 20, 20, 0.75, IsNan()));
  EXPECT_THAT(fp32_values("threshold_grad", {dy, x}, {{"threshold", "0.5"}}),
              ElementsAre(0, 0, 0, 0, 5, 6));
  const auto near = [](double value) { return DoubleNear(value, 1e-15); };
  EXPECT_THAT(fp32_values("celu", {{-2, 3}}, {{"alpha", "2"}}),
              ElementsAre(near(2 * std::expm1(-1)), 3));
  EXPECT_THAT(fp32_values("celu_grad", {{1, 1}, {-2, 3}}, {{"alpha", "2"}}),
              ElementsAre(near(std::exp(-1)), 1));
  EXPECT_THAT(fp32_values("elu_result_grad", {{3, 3}, {-0.25, 2}}), ElementsAre(2.25, 3));
  EXPECT_THAT(fp32_values("log_sigmoid", {{0, -kInf, kInf, kNan}}),
              ElementsAre(near(-0.693147180559945), -kInf, 0, IsNan()));
  EXPECT_THAT(fp32_values("log_sigmoid_grad", {{4}, {0}}), ElementsAre(2));
}

// bf16 holds 0.1 as 0.10009765625. A framework compares with that, a device with 0.1 or fp32's.
TEST(Activations, EitherSideOfARoundedLimitIsRight) {
  const Problem problem =
      problem_with(find_op("hardshrink"), {{2}}, {{"lambd", "0.1"}}, DType::bf16);
  const double limit = 0.10009765625;
  Tensor x(problem.inputs[0]), y(problem.outputs[0]);
  const auto verdict = [&](const std::vector<double>& values) {
    const std::vector<double> given = {limit, 0.125};
    from_doubles(DType::bf16, given.data(), 2, x.data());
    from_doubles(DType::bf16, values.data(), 2, y.data());
    const CallToJudge call{.problem = problem, .inputs = {x.data()}, .outputs = {y.data()}};
    return judge_output(call, 0).judgement.verdict;
  };
  EXPECT_EQ(verdict({0, 0.125}), Verdict::passed);
  EXPECT_EQ(verdict({limit, 0.125}), Verdict::passed);
  EXPECT_EQ(verdict({limit, 0}), Verdict::failed);
}

// The gradient of clamp passes at the bounds; the gradient of hardtanh does not.
TEST(Activations, HardtanhIsClosedAtItsBounds) {
  const AttrTexts bounds = {{"min", "0"}, {"max", "6"}};
  const std::vector<double> dy = {1, 2, 3, 4, 5}, x = {-1, 0, 3, 6, kNan};
  EXPECT_THAT(fp32_values("hardtanh_grad", {dy, x}, bounds), ElementsAre(0, 0, 3, 0, 5));
  on_every_isa([&] {
    EXPECT_THAT(kernel_values("hardtanh_grad", "native", DType::fp32, {dy, x}, bounds),
                ElementsAre(0, 0, 3, 0, 5));
  });
}

TEST(Activations, VariantsAgreeWithTheReference) {
  std::vector<double> x, dy;
  for (int i = -400; i <= 400; ++i) {
    x.push_back(i / 32.0);
    dy.push_back(1 + i % 7);
  }
  on_every_isa([&] {
    for (const char* op : {"silu", "hardsigmoid", "hardswish", "leaky_relu", "fast_gelu", "mish",
                           "elu", "erf", "celu", "threshold", "log_sigmoid"}) {
      const std::vector<double> expected = fp32_values(op, {x}),
                                gradient = fp32_values(std::string(op) + "_grad", {dy, x});
      const std::vector<double> actual = kernel_values(op, "native", DType::fp32, {x});
      const std::vector<double> slope =
          kernel_values(std::string(op) + "_grad", "native", DType::fp32, {dy, x});
      for (std::size_t i = 0; i < x.size(); ++i) {
        EXPECT_NEAR(actual[i], expected[i], 1e-5) << op << " of " << x[i];
        EXPECT_NEAR(slope[i], gradient[i], 1e-5) << op << " at " << x[i];
      }
    }
  });
}

}  // namespace opbench
