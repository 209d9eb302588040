#include <gmock/gmock.h>

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

TEST(Activations, GradientsByHand) {
  EXPECT_THAT(fp32_values("silu_grad", {{4}, {0}}), ElementsAre(2));
  EXPECT_THAT(fp32_values("hardsigmoid_grad", {{6, 6, 6}, {-3, 0, 3}}),
              ElementsAre(0, DoubleNear(1, 1e-7), 0));
  EXPECT_THAT(fp32_values("hardswish_grad", {{2, 2, 2, 2}, {-4, -1.5, 0, 3}}),
              ElementsAre(0, 0, 1, 2));
  EXPECT_THAT(fp32_values("leaky_relu_grad", {{4, 4}, {-1, 1}}, {{"negative_slope", "0.5"}}),
              ElementsAre(2, 4));
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
    for (const char* op : {"silu", "hardsigmoid", "hardswish", "leaky_relu"}) {
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
