// Average pools are checked against torch 1.13.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tensor/error.h"
#include "tests/evaluate.h"
#include "tests/ops/finite_difference.h"

namespace opbench {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointwise;
using testing::ThrowsMessage;

const std::vector<double> kPlane = {1,  2,  4,  8,  16,  3,   5,    7,   11,  13,
                                    -1, -2, -4, -8, -16, 0.5, 0.25, 1.5, 2.5, 3.5};

/// A pool of kPlane, 4x5, and its gradient for dy = 1, 2, 3 ...
struct TorchPool {
  AttrTexts attrs;
  const char* ceil_mode;
  Dims windows;
  std::vector<double> y, dx;
};

// Source: torch 1.13 (Debian 12), torch.nn.functional.avg_pool2d and its backward.
const TorchPool kTorch[] = {
    {{{"kernel_size", "2"}}, "false", {2, 2}, {2.75, 7.5, -0.5625, -2}, {0.25, 0.25, 0.5, 0.5, 0,
                                                                         0.25, 0.25, 0.5, 0.5, 0,
                                                                         0.75, 0.75, 1,   1,   0,
                                                                         0.75, 0.75, 1,   1,   0}},
    {{{"kernel_size", "3"}, {"stride", "2"}, {"padding", "1"}},
     "false",
     {2, 3},
     {1.22222221, 4.11111116, 5.33333349, 0.638888896, 1.47222221, 0.666666687},
     {0.111111112, 0.333333343, 0.222222224, 0.555555582, 0.333333343, 0.555555582, 1.33333337,
      0.777777791, 1.77777791,  1,           0.444444448, 1,           0.555555582, 1.22222233,
      0.666666687, 0.444444448, 1,           0.555555582, 1.22222233,  0.666666687}},
    {{{"kernel_size", "3"}, {"stride", "2"}, {"padding", "1"}, {"count_include_pad", "false"}},
     "false",
     {2, 3},
     {2.75, 6.16666651, 12, 0.958333313, 1.47222221, 1},
     {0.25,        0.583333373, 0.333333343, 1.08333337, 0.75,
      0.916666687, 1.80555558,  0.888888955, 2.63888884, 1.75,
      0.666666687, 1.22222233,  0.555555582, 1.55555558, 1,
      0.666666687, 1.22222233,  0.555555582, 1.55555558, 1}},
    {{{"kernel_size", "[2,3]"}, {"stride", "[3,2]"}},
     "true",
     {2, 2},
     {3.66666675, 9.83333302, 0.75, 2.5},
     {0.166666672, 0.166666672, 0.5,         0.333333343, 0.333333343, 0.166666672, 0.166666672,
      0.5,         0.333333343, 0.333333343, 0,           0,           0,           0,
      0,           1,           1,           2.33333349,  1.33333337,  1.33333337}},
    {{{"kernel_size", "3"}, {"stride", "2"}, {"padding", "1"}},
     "true",
     {3, 3},
     {1.22222221, 4.11111116, 5.33333349, 0.638888896, 1.47222221, 0.666666687, 0.125, 0.708333313,
      1},
     {0.111111112, 0.333333343, 0.222222224, 0.555555582, 0.333333343, 0.555555582, 1.33333337,
      0.777777791, 1.77777791,  1,           0.444444448, 1,           0.555555582, 1.22222233,
      0.666666687, 1.61111104,  3.5,         1.88888896,  4.05555582,  2.16666675}},
    {{{"kernel_size", "[3,2]"}, {"stride", "[2,3]"}, {"padding", "1"}},
     "true",
     {3, 2},
     {0.666666687, 5, 0.416666657, 1.66666663, 0.125, 1},
     {0.166666672, 0, 0.333333343, 0.333333343, 0, 0.666666687, 0, 1,          1,          0,
      0.5,         0, 0.666666687, 0.666666687, 0, 1.75,        0, 2.16666675, 2.16666675, 0}},
    {{{"kernel_size", "[3,2]"},
      {"stride", "[2,3]"},
      {"padding", "1"},
      {"count_include_pad", "false"}},
     "true",
     {3, 2},
     {2, 7.5, 0.833333313, 1.66666663, 0.5, 2},
     {0.5, 0, 0.5,         0.5,         0, 1.5, 0, 1.16666675, 1.16666675, 0,
      1,   0, 0.666666687, 0.666666687, 0, 6,   0, 3.66666675, 3.66666675, 0}},
};

}  // namespace

TEST(AvgPool2d, AgreesWithTorch) {
  for (const TorchPool& torch : kTorch) {
    AttrTexts attrs = torch.attrs;
    attrs.emplace("ceil_mode", torch.ceil_mode);
    const auto y = reference_of_tensors("avg_pool2d", {{DType::fp32, {1, 1, 4, 5}, kPlane}}, attrs);
    EXPECT_THAT(y[0], Pointwise(DoubleNear(1e-6), torch.y));
  }
}

TEST(AvgPool2dGrad, AgreesWithTorch) {
  for (const TorchPool& torch : kTorch) {
    AttrTexts attrs = torch.attrs;
    attrs.emplace("input_size", "[4,5]");
    std::vector<double> dy;
    for (std::size_t i = 0; i < torch.y.size(); ++i) dy.push_back(double(i + 1));
    const Dims shape{1, 1, torch.windows[0], torch.windows[1]};
    const auto dx = reference_of_tensors("avg_pool2d_grad", {{DType::fp32, shape, dy}}, attrs);
    EXPECT_THAT(dx[0], Pointwise(DoubleNear(1e-6), torch.dx));
  }
}

TEST(AvgPool2d, GradientAgreesWithFiniteDifferences) {
  expect_gradients({"avg_pool2d", {spread({2, 2, 4, 6})}});
  expect_gradients({"avg_pool2d",
                    {spread({1, 2, 5, 4})},
                    {{"kernel_size", "3"}, {"stride", "2"}, {"padding", "1"}}});
  expect_gradients({"avg_pool2d",
                    {spread({1, 2, 5, 7})},
                    {{"padding", "1"}, {"ceil_mode", "true"}, {"count_include_pad", "false"}}});
}

TEST(AvgPool2d, NamesWhatItRefuses) {
  const auto refused = [](const char* op, const Dims& shape, const AttrTexts& attrs,
                          const char* text) {
    EXPECT_THAT([&] { problem_with(find_op(op), {shape}, attrs, DType::fp32); },
                ThrowsMessage<Error>(HasSubstr(text)));
  };
  refused("avg_pool2d", {1, 1, 4, 4}, {{"padding", "2"}},
          "avg_pool2d: padding is 2x2; allowed: at most half the kernel");
  refused("avg_pool2d", {1, 1, 4, 1}, {}, "a kernel of 2x2 does not fit into 4x1");
  refused("avg_pool2d", {1, 1, 4, 4}, {{"stride", "0"}}, "it must be one or two numbers from 1");
  refused("avg_pool2d_grad", {1, 1, 2, 2}, {{"input_size", "[8,4]"}},
          "'grad_output' has 2x2 windows; allowed: 4x2, as planes of 8x4 have");
}

}  // namespace opbench
