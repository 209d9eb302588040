#include <gmock/gmock.h>

#include <cmath>

#include "tests/on_tensors.h"

namespace opbench {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

std::vector<double> half_values(std::string_view op, std::string_view variant,
                                const std::vector<double>& x) {
  return kernel_values(op, variant, DType::fp16, {x});
}

}  // namespace

// x = -7: e^7 = 1096.6 is 1097 in fp16, and 1/1098 is 1910 * 2^-21, rounded; exact would be 1911.
// x = -12: e^12 is Inf. 910A takes -11.086, for which e^-x + 1 is 65248.
TEST(SigmoidModes, RoundEachStepToHalf) {
  const std::vector<double> x = {0, -7, -12};
  EXPECT_THAT(half_values("sigmoid", "sigmoid", x),
              ElementsAre(0.5, 1911 * 0x1p-21, 103 * 0x1p-24));
  EXPECT_THAT(half_values("sigmoid", "sigmoid_high_performance", x),
              ElementsAre(0.5, 1910 * 0x1p-21, 0));
  EXPECT_THAT(half_values("sigmoid", "sigmoid_910a", x),
              ElementsAre(0.5, 1910 * 0x1p-21, 257 * 0x1p-24));
}

// e^(2^-25) is 1 in fp32, so that nothing is left of the difference.
TEST(TanhModes, CancelAtHighPerformance) {
  const std::vector<std::vector<double>> x = {{0x1p-26, 1, 30, NAN}};
  const auto one = DoubleNear(std::tanh(1.0), 1e-7);
  EXPECT_THAT(kernel_values("tanh", "tanh", DType::fp32, x),
              ElementsAre(0x1p-26, one, 1, testing::IsNan()));
  EXPECT_THAT(kernel_values("tanh", "tanh_high_performance", DType::fp32, x),
              ElementsAre(0, one, 1, testing::IsNan()));
}

// x = 1: 1 * ((1/2 - 0.1444 (0.7071 - 1.769)^2) + 1/2). From 2.502 on the parabola is at its end.
TEST(GeluModes, UseAParabolaInPlaceOfTanh) {
  const AttrTexts tanh = {{"approximate", "tanh"}};
  const std::vector<std::vector<double>> x = {{1, 3, -3, 0}};
  EXPECT_THAT(kernel_values("gelu", "gelu_v2_high_performance", DType::fp32, x, tanh),
              ElementsAre(DoubleNear(0.837170, 1e-6), 3, 0, 0));
  EXPECT_THAT(kernel_values("gelu", "gelu_v2", DType::fp32, x, tanh),
              ElementsAre(DoubleNear(0.841192, 1e-6), DoubleNear(2.996363, 1e-6),
                          DoubleNear(-0.003637, 1e-6), 0));
  EXPECT_THAT(kernel_values("gelu", "gelu_v2_high_performance", DType::fp32, {{1}}),
              ElementsAre(DoubleNear(0.841345, 1e-6)));  // by erf
}

// A long row: 2^-9 - 8 is a tie in fp16 and becomes -8, so that the first share is
// 1/(1 + 2047 e^-8). Neighbouring columns are computed side by side.
TEST(SoftmaxModes, SubtractTheMaximumInHalf) {
  std::vector<double> row(2048, 0x1p-9);
  row[0] = 8;
  const auto shares = [&](std::string_view variant, const Dims& shape, const char* dim) {
    const auto y =
        kernel_on_tensors("softmax", variant, {{DType::fp16, shape, row}}, {{"dim", dim}});
    return std::vector{y[0][0] * 2048, y[0][1] * 0x1p23};
  };
  EXPECT_THAT(shares("softmax_v2_fp16", {1, 2048}, "1"), ElementsAre(1214, 1668));
  EXPECT_THAT(shares("softmax_v2_fp16", {2048, 1}, "0"), ElementsAre(1214, 1668));
  EXPECT_THAT(shares("softmax_v2", {1, 2048}, "1"), ElementsAre(1213, 1670));
  EXPECT_THAT(kernel_on_tensors("softmax", "softmax_v2_fp16", {{DType::fp16, {2, 2}, {0, 7, 0, 7}}},
                                {{"dim", "0"}})[0],
              testing::Each(0.5));
}

// 1/5 is 819/4096 in fp16; the lanes of a row are joined in halves: 2/5 + 1/5 = 1228/2048 (a tie),
// + 2/5 = 2047/2048. 1/7 is 1170/8192; columns are added row by row, and three sums are ties. The
// mean of no elements is NaN.
TEST(MeanModes, SumInHalf) {
  const auto mean = [](std::string_view op, const Dims& shape, const AttrTexts& axes = {}) {
    std::vector<double> ones(static_cast<std::size_t>(element_count(shape)), 1);
    return kernel_on_tensors(op, "reduce_mean_310", {{DType::fp16, shape, ones}}, axes)[0];
  };
  EXPECT_THAT(mean("mean", {5}), ElementsAre(2047.0 / 2048));
  EXPECT_THAT(mean("reduce_mean", {2, 5}, {{"axes", "[1]"}}), testing::Each(2047.0 / 2048));
  EXPECT_THAT(mean("reduce_mean", {7, 130}, {{"axes", "[0]"}}), testing::Each(2046.0 / 2048));
  EXPECT_THAT(mean("mean", {0}), ElementsAre(testing::IsNan()));
}

}  // namespace opbench
