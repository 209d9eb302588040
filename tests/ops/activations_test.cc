#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tests/evaluate.h"
#include "tests/support.h"

namespace opbench {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsNan;

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNaN = std::nan("");

using Values = std::vector<double>;

Values of(std::string_view op, const std::vector<Values>& inputs, const AttrTexts& attrs = {}) {
  return reference_values(op, DType::fp32, inputs, attrs);
}

}  // namespace

// Sources: PyTorch 1.13; sigmoid(1) is 0.731058578630005.
TEST(Activations, ByHand) {
  EXPECT_THAT(of("silu", {{0, 1, kInf}}),
              ElementsAre(0, DoubleNear(0.731058578630005, 1e-15), kInf));
  EXPECT_THAT(of("hardsigmoid", {{-4, -3, 0, 3, kInf, kNaN}}),
              ElementsAre(0, 0, 0.5, 1, 1, IsNan()));
  EXPECT_THAT(of("hardswish", {{-4, -1.5, 0, 3, 7, kNaN}}),
              ElementsAre(0, -0.375, 0, 3, 7, IsNan()));
  EXPECT_THAT(of("leaky_relu", {{-4, 0, 2}}, {{"negative_slope", "0.5"}}), ElementsAre(-2, 0, 2));
}

TEST(Activations, GradientsByHand) {
  EXPECT_THAT(of("silu_grad", {{4}, {0}}), ElementsAre(2));
  EXPECT_THAT(of("hardsigmoid_grad", {{6, 6, 6}, {-3, 0, 3}}),
              ElementsAre(0, DoubleNear(1, 1e-7), 0));
  EXPECT_THAT(of("hardswish_grad", {{2, 2, 2, 2}, {-4, -1.5, 0, 3}}), ElementsAre(0, 0, 1, 2));
  EXPECT_THAT(of("leaky_relu_grad", {{4, 4}, {-1, 1}}, {{"negative_slope", "0.5"}}),
              ElementsAre(2, 4));
}

// A clamp's gradient passes at its bounds, that of hardtanh does not.
TEST(Activations, HardtanhIsClosedAtItsBounds) {
  const AttrTexts bounds = {{"min", "0"}, {"max", "6"}};
  const Values dy = {1, 2, 3, 4, 5}, x = {-1, 0, 3, 6, kNaN};
  EXPECT_THAT(of("hardtanh_grad", {dy, x}, bounds), ElementsAre(0, 0, 3, 0, 5));
  on_every_isa([&] {
    EXPECT_THAT(kernel_values("hardtanh_grad", "native", DType::fp32, {dy, x}, bounds),
                ElementsAre(0, 0, 3, 0, 5));
  });
}

TEST(Activations, VariantsAgreeWithTheReference) {
  Values x, dy;
  for (int i = -400; i <= 400; ++i) {
    x.push_back(i / 32.0);
    dy.push_back(1 + i % 7);
  }
  on_every_isa([&] {
    for (const char* op : {"silu", "hardsigmoid", "hardswish", "leaky_relu"}) {
      const Values expected = of(op, {x}), gradient = of(std::string(op) + "_grad", {dy, x});
      const Values actual = kernel_values(op, "native", DType::fp32, {x});
      const Values slope = kernel_values(std::string(op) + "_grad", "native", DType::fp32, {dy, x});
      for (std::size_t i = 0; i < x.size(); ++i) {
        EXPECT_NEAR(actual[i], expected[i], 1e-5) << op << " of " << x[i];
        EXPECT_NEAR(slope[i], gradient[i], 1e-5) << op << " at " << x[i];
      }
    }
  });
}

}  // namespace opbench
