#include <gmock/gmock.h>

#include <cmath>

#include "tensor/error.h"
#include "tests/ops/finite_difference.h"
#include "tests/support.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

namespace {

/// Checks the outputs of the reference, and of the variant with every instruction set.
void expect_outputs(std::string_view op, const std::vector<Given>& inputs, const Values& expected,
                    const AttrTexts& attrs = {}) {
  EXPECT_EQ(reference_of_tensors(op, inputs, attrs), expected);
  on_every_isa([&] { EXPECT_EQ(kernel_on_tensors(op, "native", inputs, attrs), expected); });
}

}  // namespace

// Rows 1, 3 and 2, 6: means 2 and 4, variances 1 and 4.
TEST(LayerNorm, HandComputed) {
  const Given x{DType::fp32, {2, 2}, {1, 3, 2, 6}}, weight{DType::fp32, {2}, {2, 4}},
      bias{DType::fp32, {2}, {1, -1}};
  expect_outputs("layer_norm", {x}, {{-1, 1, -1, 1}, {2, 4}, {1, 0.5}}, {{"eps", "0"}});
  expect_outputs("layer_norm", {x, weight}, {{-2, 4, -2, 4}, {2, 4}, {1, 0.5}}, {{"eps", "0"}});
  expect_outputs("layer_norm", {x, weight, bias}, {{-1, 3, -1, 3}, {2, 4}, {1, 0.5}},
                 {{"eps", "0"}});
  // 1/sqrt(1 + 3) = 1/2.
  expect_outputs("layer_norm", {{DType::fp16, {1, 2}, {1, 3}}}, {{-0.5, 0.5}, {2}, {0.5}},
                 {{"eps", "3"}});
}

// Both axes make one row.
TEST(LayerNorm, RowsMayHaveSeveralAxes) {
  expect_outputs("layer_norm", {{DType::fp32, {1, 2, 2}, {0, 0, 2, 2}}}, {{-1, -1, 1, 1}, {1}, {1}},
                 {{"normalized_shape", "[2,2]"}, {"eps", "0"}});
}

TEST(LayerNorm, StatisticsAreFp32AndKeepTheRank) {
  const Problem problem =
      problem_with(find_op("layer_norm"), {{2, 3, 4}, {4}, {4}}, {}, DType::fp16);
  EXPECT_EQ(problem.outputs[1].shape, (Dims{2, 3, 1}));
  EXPECT_EQ(problem.outputs[2].dtype, DType::fp32);
}

// xn is -1, -1, 1, 1; with dy 4, 0, 0, 8: sum(dy) = 12, sum(dy*xn) = 4, dx = dy - 3 - xn.
TEST(LayerNormGrad, HandComputed) {
  const std::vector<Given> inputs = {{DType::fp32, {1, 4}, {4, 0, 0, 8}},
                                     {DType::fp32, {1, 4}, {0, 0, 2, 2}},
                                     {DType::fp32, {1, 1}, {1}},
                                     {DType::fp32, {1, 1}, {1}},
                                     {DType::fp32, {4}, {1, 1, 1, 1}}};
  expect_outputs("layer_norm_grad", inputs, {{2, -2, -4, 4}, {-4, 0, 0, 8}, {4, 0, 0, 8}});
  expect_outputs("layer_norm_grad", {inputs.begin(), inputs.end() - 1}, {{2, -2, -4, 4}});
}

// PyTorch 1.5 records the statistics with one axis.
TEST(LayerNormGrad, StatisticsMayHaveOneAxis) {
  expect_outputs("layer_norm_grad",
                 {{DType::fp32, {2, 2}, {3, 3, 5, 5}},
                  {DType::fp32, {2, 2}, {1, 3, 2, 6}},
                  {DType::fp32, {2}, {2, 4}},
                  {DType::fp32, {2}, {1, 0.5}}},
                 {{0, 0, 0, 0}});
}

TEST(LayerNorm, GradientsAgreeWithFiniteDifferences) {
  expect_gradients({"layer_norm", {spread({3, 5}), spread({5}, 1), spread({5}, 2)}});
  expect_gradients({"layer_norm", {spread({3, 5}), spread({5}, 1)}});
  expect_gradients({"layer_norm", {spread({3, 5})}});
  expect_gradients({"layer_norm",
                    {spread({2, 2, 3}), spread({2, 3}, 1), spread({2, 3}, 2)},
                    {{"normalized_shape", "[2,3]"}}});
}

TEST(LayerNorm, NamesWhatItRefuses) {
  const auto refused = [](const char* op, const std::vector<Dims>& shapes, const AttrTexts& attrs,
                          const char* text) {
    EXPECT_THAT([&] { problem_with(find_op(op), shapes, attrs, DType::fp32); },
                ThrowsMessage<Error>(HasSubstr(text)));
  };
  refused("layer_norm", {{2, 3}, {2}}, {}, "'weight' has shape 2; allowed: 3");
  refused("layer_norm", {{2, 3}, {3}, {2, 3}}, {}, "'bias' has shape 2x3; allowed: 3");
  refused("layer_norm", {{2, 3}}, {{"normalized_shape", "[2]"}},
          "'self' has shape 2x3 and rows of 2");
  refused("layer_norm", {{3}}, {{"normalized_shape", "[3,3]"}},
          "allowed: rows of the last extents");
  refused("layer_norm", {{2, 0}}, {}, "none of them 0");
  refused("layer_norm", {{}}, {}, "layer_norm: 'self' has shape");
  refused("layer_norm", {{2, 3}}, {{"eps", "-1"}}, "it must be 0 or more");
  refused("layer_norm_grad", {{2, 3}, {2, 3}, {3}, {2}}, {},
          "'mean' has shape 3; allowed: 2x1, one number for each row");
}

}  // namespace opbench
