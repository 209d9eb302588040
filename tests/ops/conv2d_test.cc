#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/ops/finite_difference.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

namespace {

const Given kNine{DType::fp32, {1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}};

Given ones(const Dims& shape) {
  return {DType::fp32, shape, std::vector<double>(std::size_t(element_count(shape)), 1)};
}

}  // namespace

// Windows of 2x2 over 1..9, weighted 1 2 / 3 4: 1*1 + 2*2 + 4*3 + 5*4 = 37, and so on.
TEST(Conv2d, HandComputed) {
  const Given weight{DType::fp32, {1, 1, 2, 2}, {1, 2, 3, 4}};
  EXPECT_THAT(reference_of_tensors("conv2d", {kNine, weight})[0], ElementsAre(37, 47, 67, 77));
  EXPECT_THAT(reference_of_tensors("conv2d", {kNine, weight, {DType::fp32, {1}, {100}}})[0],
              ElementsAre(137, 147, 167, 177));
  // Stride 2 with zero padding: 4*1 of 1; 2*3 + 3*4 of 2, 3; 4*2 + 7*4 of 4, 7.
  EXPECT_THAT(
      reference_of_tensors("conv2d", {kNine, weight}, {{"padding", "1"}, {"stride", "2"}})[0],
      ElementsAre(4, 18, 36, 77));
  // Dilation 2 reads the corners of 1..9.
  EXPECT_THAT(reference_of_tensors("conv2d", {kNine, weight}, {{"dilation", "2"}})[0],
              ElementsAre(1 + 3 * 2 + 7 * 3 + 9 * 4));
}

TEST(Conv2d, AttributesByAxis) {
  EXPECT_THAT(reference_of_tensors("conv2d", {kNine, ones({1, 1, 1, 2})}, {{"stride", "[2,1]"}})[0],
              ElementsAre(3, 5, 15, 17));
  EXPECT_THAT(
      reference_of_tensors("conv2d", {kNine, ones({1, 1, 3, 3})}, {{"padding", "[1,0]"}})[0],
      ElementsAre(21, 45, 39));
}

// Two groups: the second output reads the second channel only.
TEST(Conv2d, Groups) {
  EXPECT_THAT(reference_of_tensors("conv2d",
                                   {{DType::fp32, {1, 2, 1, 2}, {1, 2, 10, 20}},
                                    {DType::fp32, {2, 1, 1, 1}, {3, 5}}},
                                   {{"groups", "2"}})[0],
              ElementsAre(3, 6, 50, 100));
}

// Every element of x is met by the windows that contain it.
TEST(Conv2dGradInput, HandComputed) {
  EXPECT_THAT(
      reference_of_tensors("conv2d_grad_input", {ones({1, 1, 2, 2}), ones({1, 1, 2, 2})})[0],
      ElementsAre(1, 2, 1, 2, 4, 2, 1, 2, 1));
  // Windows of one place with stride 2 do not meet the last row and column of a 4x4 image.
  const Values wide =
      reference_of_tensors("conv2d_grad_input", {ones({1, 1, 2, 2}), ones({1, 1, 1, 1})},
                           {{"stride", "2"}, {"input_size", "4"}});
  EXPECT_THAT(wide[0], ElementsAre(1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0));
}

// Each tap sums the elements that it meets: 1+2+4+5, 2+3+5+6, ...
TEST(Conv2dGradWeight, HandComputed) {
  EXPECT_THAT(reference_of_tensors("conv2d_grad_weight", {ones({1, 1, 2, 2}), kNine})[0],
              ElementsAre(12, 16, 24, 28));
}

TEST(Conv2d, GradientsAgreeWithFiniteDifferences) {
  expect_gradients({"conv2d", {spread({2, 2, 4, 5}), spread({3, 2, 3, 2}, 1), spread({3}, 2)}});
  expect_gradients({"conv2d",
                    {spread({1, 2, 5, 6}), spread({2, 2, 2, 3}, 1)},
                    {{"stride", "[2,3]"}, {"padding", "[1,2]"}}});
  expect_gradients({"conv2d",
                    {spread({1, 4, 5, 5}), spread({2, 2, 2, 2}, 1)},
                    {{"groups", "2"}, {"dilation", "[1,3]"}, {"stride", "2"}}});
  expect_gradients({"conv2d",
                    {spread({2, 3, 4, 4}), spread({3, 1, 3, 3}, 1)},
                    {{"groups", "3"}, {"padding", "1"}, {"stride", "2"}}});
}

TEST(Conv2d, GradientsAskForTheExtentsOfTheForwardPass) {
  const Op& op = find_op("conv2d");
  const Problem forward =
      problem_with(op, {{1, 2, 6, 7}, {4, 2, 2, 2}}, {{"stride", "2"}}, DType::fp32);
  const auto calls = op.gradient(forward);
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].attrs.list("input_size"), (Dims{6, 7}));
  EXPECT_EQ(calls[1].attrs.list("kernel_size"), (Dims{2, 2}));
}

TEST(Conv2d, CountsOperations) {
  const Op& op = find_op("conv2d");
  const Problem problem =
      problem_with(op, {{2, 4, 5, 5}, {6, 2, 3, 3}}, {{"groups", "2"}}, DType::fp32);
  EXPECT_EQ(op.traffic(problem).operations, 2.0 * 2 * 6 * 9 * 2 * 9);
}

TEST(Conv2d, StoresTheWeightBesideTheActivations) {
  const Op& op = find_op("conv2d");
  const Problem problem = problem_with(op, {{1, 58, 4, 4}, {58, 1, 3, 3}, {58}}, {{"groups", "58"}},
                                       DType::fp16, Format::NC1HWC0);
  EXPECT_EQ(problem.inputs[1].format, Format::FRACTAL_Z);
  EXPECT_EQ(problem.inputs[1].groups, 58);
  EXPECT_EQ(problem.inputs[2].format, Format::ND);
  EXPECT_EQ(problem.outputs[0].format, Format::NC1HWC0);
}

TEST(Conv2d, NamesWhatItRefuses) {
  const Op& op = find_op("conv2d");
  const auto refused = [&](const std::vector<Dims>& shapes, const AttrTexts& attrs,
                           const char* text) {
    EXPECT_THAT([&] { problem_with(op, shapes, attrs, DType::fp32); },
                ThrowsMessage<Error>(HasSubstr(text)));
  };
  refused({{1, 2, 3}, {1, 2, 3, 3}}, {},
          "conv2d: input 'self' of shape 1x2x3 is stored as ND; allowed: NCHW, NC1HWC0");
  refused({{1, 2, 3, 3}, {1, 2, 9}}, {},
          "'weight' of shape 1x2x9 is stored as ND; allowed: NCHW, FRACTAL_Z");
  refused({{1, 4, 3, 3}, {1, 3, 3, 3}}, {}, "has 3 channels; allowed: 4, the 4 of x");
  refused({{1, 4, 3, 3}, {4, 1, 3, 3}}, {{"groups", "3"}}, "groups is 3; x has 4 channels");
  refused({{1, 1, 3, 3}, {1, 1, 4, 4}}, {}, "a kernel of 4x4 with dilation 1x1 does not fit");
  refused({{1, 1, 3, 3}, {2, 1, 3, 3}, {3}}, {}, "'bias' has shape 3; allowed: 2");
  refused({{1, 1, 3, 3}, {0, 1, 3, 3}}, {}, "needs at least one channel");
  refused({{1, 1, 3, 3}, {1, 1, 1, 1}}, {{"stride", "0"}}, "one or two numbers from 1");
  refused({{1, 1, 3, 3}, {1, 1, 1, 1}}, {{"padding", "[1,1,1]"}}, "one or two numbers from 0");
  EXPECT_THAT(
      [] {
        problem_with(find_op("conv2d_grad_input"), {{1, 1, 2, 2}, {1, 1, 2, 2}},
                     {{"input_size", "9"}}, DType::fp32);
      },
      ThrowsMessage<Error>(HasSubstr("'grad_output' has shape 1x1x2x2; allowed: 1x1x8x8")));
  EXPECT_THAT(
      [] {
        problem_with(find_op("conv2d_grad_weight"), {{1, 1, 2, 2}, {1, 1, 9, 9}},
                     {{"kernel_size", "3"}}, DType::fp32);
      },
      ThrowsMessage<Error>(HasSubstr("'grad_output' has shape 1x1x2x2; allowed: 1x1x7x7")));
}

TEST(Conv2d, DeviceVariantsNameTheLayoutTheyTake) {
  const Op& op = find_op("conv2d");
  const Problem plain = problem_with(op, {{1, 16, 4, 4}, {16, 16, 3, 3}}, {}, DType::fp16);
  EXPECT_THAT(refusal(find_kernel("conv2d", "conv2d"), plain),
              HasSubstr("activations in NC1HWC0 and the weight in FRACTAL_Z, found NCHW"));
  const Problem blocked =
      problem_with(op, {{1, 16, 4, 4}, {16, 16, 3, 3}}, {}, DType::fp16, Format::NC1HWC0);
  EXPECT_EQ(refusal(find_kernel("conv2d", "conv2d"), blocked), "");
  EXPECT_THAT(refusal(find_kernel("conv2d", "depthwise_conv2d"), blocked),
              HasSubstr("as many groups and outputs as there are channels"));
}

}  // namespace opbench
