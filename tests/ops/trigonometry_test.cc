#include <gmock/gmock.h>

#include <cmath>
#include <numbers>

#include "ops/terms.h"
#include "tests/evaluate.h"

namespace opbench {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsNan;

namespace {

std::vector<double> trigonometric(std::string_view op,
                                  const std::vector<std::vector<double>>& inputs) {
  return reference_values(op, DType::fp32, inputs);
}

}  // namespace

// Source: DLMF 4.15, sin(1) and cos(1).
TEST(Trigonometry, Published) {
  EXPECT_THAT(trigonometric("sin", {{0, 1, HUGE_VAL}}),
              ElementsAre(0, DoubleNear(0.841470984807896507, 1e-15), IsNan()));
  EXPECT_THAT(trigonometric("cos", {{0, 1, HUGE_VAL}}),
              ElementsAre(1, DoubleNear(0.540302305868139717, 1e-15), IsNan()));
}

TEST(Trigonometry, GradientsByHand) {
  EXPECT_THAT(trigonometric("sin_grad", {{3, 2}, {0, 1}}),
              ElementsAre(3, DoubleNear(2 * 0.540302305868139717, 1e-15)));
  EXPECT_THAT(trigonometric("cos_grad", {{3, 2}, {0, 1}}),
              ElementsAre(0, DoubleNear(-2 * 0.841470984807896507, 1e-15)));
}

// The error of a reduced argument is relative to the argument.
TEST(Trigonometry, TermsGrowWithTheArgument) {
  const Tensor x = [] {
    Tensor tensor(describe(DType::fp32, {1}));
    tensor.as<float>()[0] = 1e6f;
    return tensor;
  }();
  const InputReader reader(x.desc, x.data());
  const Problem problem = make_problem(find_op("sin"), {x.desc}, {});
  double terms = 0;
  terms_of(problem, std::span(&reader, 1)).magnitude(0, {0, 1}, std::span(&terms, 1));
  EXPECT_NEAR(terms, std::fabs(std::sin(1e6)) + 1e6 * std::fabs(std::cos(1e6)), 1e-6);
}

// A large argument is reduced exactly.
TEST(Trigonometry, KernelsReduceLargeArguments) {
  for (const char* op : {"sin", "cos"}) {
    const std::vector<double> x = {-1e6, 1e9, 65504, 1e30};
    const auto y = kernel_values(op, "native", DType::fp32, {x}), expected = trigonometric(op, {x});
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(y[i], expected[i], 2e-7) << op;
  }
}

}  // namespace opbench
