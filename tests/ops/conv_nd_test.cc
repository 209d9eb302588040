#include "ops/conv_nd.h"

#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/ops/finite_difference.h"
#include "tests/ops/values.h"

namespace opbench {

using testing::HasSubstr;
using testing::ThrowsMessage;

// Windows over 1 2 3 4, weighted 1 10.
TEST(Conv1d, HandComputed) {
  const Given x{DType::fp32, {1, 1, 4}, {1, 2, 3, 4}}, weight{DType::fp32, {1, 1, 2}, {1, 10}};
  expect_values("conv1d", {x, weight}, {21, 32, 43});
  expect_values("conv1d", {x, weight, {DType::fp32, {1}, {100}}}, {121, 132, 143});
  expect_values("conv1d", {x, weight}, {10, 32, 4}, {{"padding", "1"}, {"stride", "2"}});
  expect_values("conv1d", {x, weight}, {31, 42}, {{"dilation", "2"}});
  expect_values("conv1d",
                {{DType::fp32, {1, 2, 2}, {1, 2, 3, 4}}, {DType::fp32, {2, 1, 1}, {1, 10}}},
                {1, 2, 30, 40}, {{"groups", "2"}});
}

// Volumes of two depths, 1 2 and 3 4, weighted 1 and 10 along the depth.
TEST(Conv3d, HandComputed) {
  const Given x{DType::fp32, {1, 1, 2, 1, 2}, {1, 2, 3, 4}};
  const Given weight{DType::fp32, {1, 1, 2, 1, 1}, {1, 10}};
  expect_values("conv3d", {x, weight}, {31, 42});
  expect_values("conv3d", {x, weight}, {10, 20, 31, 42, 3, 4}, {{"padding", "[1,0,0]"}});
  expect_values("conv3d", {x, weight}, {10, 20, 3, 4},
                {{"padding", "[1,0,0]"}, {"stride", "[2,1,1]"}});
  expect_values("conv3d", {x, weight}, {31}, {{"stride", "2"}});
  // The only window is in the padding.
  expect_values("conv3d",
                {{DType::fp32, {1, 1, 1, 1, 1}, {1}}, {DType::fp32, {1, 1, 1, 1, 1}, {1}}}, {0},
                {{"padding", "[1,0,0]"}, {"stride", "[3,1,1]"}});
}

TEST(ConvNd, GradientsAgreeWithFiniteDifferences) {
  expect_gradients({"conv1d",
                    {spread({2, 4, 7}), spread({6, 2, 3}, 1), spread({6}, 2)},
                    {{"groups", "2"}, {"stride", "2"}, {"padding", "2"}, {"dilation", "2"}}});
  expect_gradients({"conv3d",
                    {spread({1, 2, 3, 2, 4}), spread({2, 1, 2, 2, 2}, 1), spread({2}, 2)},
                    {{"groups", "2"}, {"stride", "[2,1,3]"}, {"padding", "[1,0,1]"}}});
  expect_gradients(
      {"conv3d", {spread({1, 1, 4, 2, 2}), spread({1, 1, 2, 1, 2}, 1)}, {{"dilation", "[2,1,1]"}}});
}

TEST(ConvNd, CountsOperations) {
  const Op& op = find_op("conv3d");
  const Problem problem =
      problem_with(op, {{2, 4, 3, 5, 5}, {6, 2, 2, 3, 3}, {6}}, {{"groups", "2"}}, DType::fp32);
  EXPECT_EQ(op.traffic(problem).operations, 2.0 * 2 * 6 * 2 * 9 * 2 * 18 + 2 * 6 * 2 * 9);
}

TEST(ConvNd, NamesWhatItRefuses) {
  const auto refused = [](const char* op, const std::vector<Dims>& shapes, const AttrTexts& attrs,
                          const char* text) {
    EXPECT_THAT([&] { problem_with(find_op(op), shapes, attrs, DType::fp32); },
                ThrowsMessage<Error>(HasSubstr(text)));
  };
  refused("conv1d", {{1, 2}, {1, 2, 3}}, {}, "'self' has shape 1x2; allowed: [N, C, L]");
  refused("conv1d", {{1, 4, 3}, {1, 3, 3}}, {}, "has 3 channels; allowed: 4, the 4 of x");
  refused("conv1d", {{1, 1, 3}, {2, 1, 3}, {3}}, {}, "'bias' has shape 3; allowed: 2");
  refused("conv1d", {{1, 1, 3}, {1, 1, 1}}, {{"stride", "[1,1]"}}, "it must be one number from 1");
  refused("conv3d", {{1, 1, 2, 3, 3}, {1, 1, 3, 3, 3}}, {},
          "a kernel of 3x3x3 with dilation 1x1x1 does not fit into 2x3x3 with padding 0x0x0");
  refused("conv3d", {{1, 1, 2, 3, 3}, {1, 1, 1, 1, 1}}, {{"padding", "[1,1]"}},
          "one or three numbers from 0");
  refused("conv1d_grad_input", {{1, 1, 2}, {1, 1, 2}}, {{"input_size", "[1,1,9]"}},
          "'grad_output' has shape 1x1x2; allowed: 1x1x8");
  refused("conv1d_grad_input", {{1, 1, 2}, {1, 1, 2}}, {{"input_size", "[9]"}},
          "input_size is [9]; allowed: 3 extents, 1 and 1 first");
  refused("conv1d_grad_weight", {{1, 1}, {1, 1, 2}}, {}, "allowed: 3 axes each");
}

}  // namespace opbench
