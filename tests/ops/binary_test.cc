#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/evaluate.h"
#include "tests/on_tensors.h"
#include "tests/ops/values.h"
#include "tests/support.h"
#include "tests/support/non_finite.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsNan;
using testing::ThrowsMessage;

}  // namespace

TEST(Binary, ByHand) {
  EXPECT_THAT(fp32_values("sub", {{3, kInf}, {5, kInf}}), ElementsAre(-2, IsNan()));
  EXPECT_THAT(fp32_values("div", {{3, -1, 0}, {4, 0, 0}}), ElementsAre(0.75, -kInf, IsNan()));
  EXPECT_THAT(fp32_values("addcmul", {{1}, {2}, {3}}, {{"value", "0.5"}}), ElementsAre(4));
  EXPECT_THAT(fp32_values("addcdiv", {{1}, {3}, {4}}, {{"value", "2"}}), ElementsAre(2.5));
}

// torch.maximum returns NaN if either input is NaN; std::fmax does not.
TEST(Binary, MaximumAndMinimumPassNaNFromBothSides) {
  const std::vector<std::vector<double>> x = {{1, kNan, 1, -kInf}, {2, 1, kNan, 3}};
  EXPECT_THAT(fp32_values("maximum", x), ElementsAre(2, IsNan(), IsNan(), 3));
  EXPECT_THAT(fp32_values("minimum", x), ElementsAre(1, IsNan(), IsNan(), -kInf));
  on_every_isa([&] {
    for (const char* variant : {"native", "maximum"}) {
      EXPECT_THAT(kernel_values("maximum", variant, DType::fp32, x),
                  ElementsAre(2, IsNan(), IsNan(), 3));
    }
    for (const char* variant : {"native", "minimum"}) {
      EXPECT_THAT(kernel_values("minimum", variant, DType::fp32, x),
                  ElementsAre(1, IsNan(), IsNan(), -kInf));
    }
  });
}

// d(a/b)/db = -a/b^2: -8 * 3/4 at a = 3, b = 2 with dy = 8.
TEST(BinaryGrad, ByHand) {
  EXPECT_THAT(fp32_values("div_grad_other", {{8}, {3}, {2}}), ElementsAre(-6));
  EXPECT_THAT(fp32_values("div_grad_other", {{8}, {3}, {2}}, {{"value", "0.5"}}), ElementsAre(-3));
  EXPECT_THAT(fp32_values("maximum_grad", {{6, 6, 6}, {2, 1, 1}, {1, 1, 2}}), ElementsAre(6, 3, 0));
}

// Source: PyTorch 1.13, maximum([nan, 1, nan, 1, 2], [1, nan, nan, 1, 1]).sum().backward().
TEST(BinaryGrad, NaNPassesTheGradientOfMaximumToBoth) {
  const std::vector<double> dy(5, 1), a = {kNan, 1, kNan, 1, 2}, b = {1, kNan, kNan, 1, 1};
  EXPECT_THAT(fp32_values("maximum_grad", {dy, a, b}), ElementsAre(1, 1, 1, 0.5, 1));
  EXPECT_THAT(fp32_values("maximum_grad", {dy, b, a}), ElementsAre(1, 1, 1, 0.5, 0));
  on_every_isa([&] {
    const auto native = [&](const std::vector<double>& x1, const std::vector<double>& x2) {
      return kernel_values("maximum_grad", "native", DType::fp32, {dy, x1, x2});
    };
    EXPECT_THAT(native(a, b), ElementsAre(1, 1, 1, 0.5, 1));
    EXPECT_THAT(native(b, a), ElementsAre(1, 1, 1, 0.5, 0));
  });
}

TEST(BinaryGrad, NothingBetweenOverflows) {
  const double largest = 0x1.fffffep127;
  on_every_isa([&] {
    const auto native = [&](double a, double b, const char* value) {
      return kernel_values("div_grad_other", "native", DType::fp32, {{largest}, {a}, {b}},
                           {{"value", value}})[0];
    };
    EXPECT_EQ(native(1, 2, "2"), -largest / 2);
    EXPECT_EQ(native(8, 4, "1"), -largest / 2);
  });
}

// Three tensors of different shapes, in fp16 and fp32: [2,1] + 1*[3] * [1].
TEST(Binary, ThreeInputsAreBroadcastAndPromoted) {
  const std::vector<Given> inputs = {
      {DType::fp32, {2, 1}, {10, 20}}, {DType::fp16, {3}, {1, 2, 3}}, {DType::fp32, {1}, {2049}}};
  const auto expected = ElementsAre(ElementsAre(2059, 4108, 6157, 2069, 4118, 6167));
  EXPECT_THAT(reference_of_tensors("addcmul", inputs), expected);
  on_every_isa([&] { EXPECT_THAT(kernel_on_tensors("addcmul", "native", inputs), expected); });
}

TEST(Binary, ShapesThatDoNotFitAreNamed) {
  EXPECT_THAT(
      [] {
        problem_with(find_op("addcdiv"), {{2, 3}, {1, 3}, {4}}, {}, DType::fp32, Format::ND);
      },
      ThrowsMessage<Error>(HasSubstr("addcdiv: inputs of shapes 2x3 and 1x3 and 4 are 3 and 4 long "
                                     "on axis 1 of 2; allowed: equal extents, or 1")));
}

}  // namespace opbench
