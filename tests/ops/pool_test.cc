#include <gmock/gmock.h>

#include <cmath>

#include "tensor/error.h"
#include "tests/ops/finite_difference.h"
#include "tests/support/peers.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// The input is 1 5 2 / 4 3 9 / 8 7 6, with windows of 2x2 and stride 1.
TEST(MaxPool2d, HandComputed) {
  const Given x{DType::fp32, {1, 1, 3, 3}, {1, 5, 2, 4, 3, 9, 8, 7, 6}};
  const Values y = reference_of_tensors("max_pool2d", {x}, {{"stride", "1"}});
  EXPECT_THAT(y[0], ElementsAre(5, 9, 8, 9));
  EXPECT_THAT(y[1], ElementsAre(1, 5, 6, 5));
  // With padding and stride 2, the windows hold 1; 5 2; 4 8; the rest.
  const Values padded =
      reference_of_tensors("max_pool2d", {x}, {{"kernel_size", "[2,2]"}, {"padding", "1"}});
  EXPECT_THAT(padded[0], ElementsAre(1, 5, 8, 9));
  EXPECT_THAT(padded[1], ElementsAre(0, 1, 6, 5));
}

// Source: torch 1.13, max_pool2d(return_indices=True) of these 25 numbers.
TEST(MaxPool2d, CeilModeAndDilationAsTorch) {
  const Given x{DType::fp32, {1, 1, 5, 5}, {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9,
                                            7, 9, 3, 2, 3, 8, 4, 6, 2, 6, 4, 3}};
  const auto expect = [&](const AttrTexts& attrs, const Dims& shape,
                          const std::vector<double>& greatest, const std::vector<double>& places) {
    const Problem problem = problem_with(find_op("max_pool2d"), {x.shape}, attrs, DType::fp32);
    EXPECT_EQ(problem.outputs[0].shape, shape);
    const Values y = reference_of_tensors("max_pool2d", {x}, attrs);
    EXPECT_EQ(y[0], greatest);
    EXPECT_EQ(y[1], places);
  };
  expect({{"ceil_mode", "true"}}, {1, 1, 3, 3}, {9, 6, 5, 8, 9, 9, 6, 6, 3},
         {5, 7, 4, 11, 12, 14, 20, 22, 24});
  // A fourth window would begin after the end of the plane.
  expect({{"ceil_mode", "true"}, {"padding", "1"}}, {1, 1, 3, 3}, {3, 4, 5, 9, 9, 9, 6, 6, 8},
         {0, 2, 4, 5, 12, 14, 20, 22, 18});
  expect({{"ceil_mode", "true"}, {"kernel_size", "6"}, {"stride", "2"}}, {1, 1, 1, 1}, {9}, {5});
  expect({{"stride", "1"}, {"dilation", "2"}}, {1, 1, 3, 3}, {9, 8, 9, 9, 8, 6, 9, 8, 9},
         {12, 11, 12, 5, 18, 7, 12, 11, 12});
  expect({{"kernel_size", "[3,2]"}, {"stride", "[2,1]"}, {"padding", "1"}, {"dilation", "[2,3]"}},
         {1, 1, 2, 4}, {6, 9, 4, 6, 6, 9, 4, 6}, {7, 5, 19, 7, 7, 5, 19, 7});
  expect({{"kernel_size", "3"}, {"padding", "1"}, {"dilation", "2"}, {"ceil_mode", "true"}},
         {1, 1, 2, 2}, {8, 6, 8, 9}, {18, 7, 11, 12});
}

// Windows far wider than the plane must not take longer: 5 of 2^31 - 1 taps meet it.
TEST(MaxPool2d, TakesWindowsFarWiderThanThePlane) {
  const AttrTexts attrs = {{"kernel_size", "2147483647"},
                           {"padding", "1073741823"},
                           {"stride", "1073741823"},
                           {"ceil_mode", "true"}};
  const Given x{DType::fp32, {1, 1, 1, 5}, {1, 4, std::nan(""), 2, 4}};
  for (const Values& y : {reference_of_tensors("max_pool2d", {x}, attrs),
                          kernel_on_tensors("max_pool2d", "native", {x}, attrs)}) {
    EXPECT_EQ(y[1], std::vector<double>(y[1].size(), 2)) << y[1].size();
    EXPECT_TRUE(std::isnan(y[0][0]));
  }
  const Problem problem = problem_with(find_op("max_pool2d"), {x.shape}, attrs, DType::fp32);
  EXPECT_EQ(problem.op->traffic(problem).operations, 5.0 * double(problem.outputs[0].elements()));
  if (peer_of("max_pool2d") == nullptr) GTEST_SKIP() << "built without oneDNN";
  EXPECT_EQ(refusal(*peer_of("max_pool2d"), problem),
            "oneDNN is used for windows of about the plane's size");
}

// Only the framework's variant takes a dilation. All variants take ceil_mode.
TEST(MaxPool2d, VariantsSayWhyTheyTakeNoDilation) {
  const Problem plain = problem_with(find_op("max_pool2d"), {{1, 16, 9, 9}}, {{"dilation", "2"}},
                                     DType::fp32, Format::NCHW);
  EXPECT_EQ(refusal(find_kernel("max_pool2d", "native"), plain), "");
  const Problem blocked = problem_with(find_op("max_pool2d"), {{1, 16, 9, 9}},
                                       {{"dilation", "[1,3]"}}, DType::fp16, Format::NC1HWC0);
  EXPECT_EQ(refusal(find_kernel("max_pool2d", "max_pool_with_argmax_v1"), blocked),
            "the device's pool takes no dilation, found 1x3");
  if (peer_of("max_pool2d") == nullptr) GTEST_SKIP() << "built without oneDNN";
  EXPECT_EQ(refusal(*peer_of("max_pool2d"), plain),
            "oneDNN has reference code only for pools with dilation");
}

// torch takes the first of equal elements, but a NaN replaces every earlier element.
TEST(MaxPool2d, TiesAndNaN) {
  const Values y = reference_of_tensors(
      "max_pool2d", {{DType::fp32, {2, 1, 1, 3}, {2, 2, 2, std::nan(""), 7, std::nan("")}}},
      {{"kernel_size", "[1,3]"}});
  EXPECT_EQ(y[0][0], 2);
  EXPECT_TRUE(std::isnan(y[0][1]));
  EXPECT_THAT(y[1], ElementsAre(0, 2));
}

// Two windows chose place 1, so its gradients are added.
TEST(MaxPool2dGrad, HandComputed) {
  EXPECT_THAT(reference_of_tensors("max_pool2d_grad",
                                   {{DType::fp32, {1, 1, 1, 3}, {1, 10, 100}},
                                    {DType::int64, {1, 1, 1, 3}, {1, 1, 3}}},
                                   {{"input_size", "[2,2]"}})[0],
              ElementsAre(0, 11, 0, 100));
}

TEST(GlobalAvgPool2d, HandComputed) {
  EXPECT_THAT(reference_of_tensors("global_avg_pool2d",
                                   {{DType::fp32, {1, 2, 2, 2}, {1, 2, 3, 6, 10, 10, 10, 30}}})[0],
              ElementsAre(3, 15));
  EXPECT_THAT(reference_of_tensors("global_avg_pool2d_grad", {{DType::fp32, {1, 1, 1, 1}, {8}}},
                                   {{"input_size", "[2,2]"}})[0],
              ElementsAre(2, 2, 2, 2));
}

TEST(Pools, GradientsAgreeWithFiniteDifferences) {
  expect_gradients({"max_pool2d",
                    {spread({2, 2, 5, 4})},
                    {{"kernel_size", "3"}, {"stride", "2"}, {"padding", "1"}}});
  expect_gradients({"max_pool2d", {spread({1, 2, 4, 6})}});
  expect_gradients({"max_pool2d", {spread({1, 2, 5, 7})}, {{"ceil_mode", "true"}}});
  expect_gradients({"max_pool2d", {spread({1, 2, 5, 7})}, {{"dilation", "2"}, {"stride", "1"}}});
  expect_gradients({"global_avg_pool2d", {spread({2, 3, 2, 3})}});
}

TEST(Pools, NameWhatTheyRefuse) {
  const Op& op = find_op("max_pool2d");
  const auto refused = [&](const Dims& shape, const AttrTexts& attrs, const char* text) {
    EXPECT_THAT([&] { problem_with(op, {shape}, attrs, DType::fp32); },
                ThrowsMessage<Error>(HasSubstr(text)));
  };
  refused({1, 1, 4, 4}, {{"padding", "2"}}, "padding is 2x2; allowed: at most half the kernel");
  refused({1, 1, 4, 1}, {}, "a kernel of 2x2 does not fit into 4x1");
  refused({1, 1, 4, 4}, {{"dilation", "4"}},
          "a kernel of 2x2 does not fit into 4x4 with padding 0x0, dilation 4x4");
  refused({1, 1, 1, 9}, {{"padding", "[1,0]"}, {"dilation", "2"}},
          "with dilation 2x2 and padding 1x0 a window meets no element of 1x9");
  refused({1, 1, 4, 4}, {{"dilation", "0"}}, "it must be one or two numbers from 1 to 2147483647");
  refused({1, 1, 4, 4}, {{"ceil_mode", "1"}}, "true or false");
  refused({1, 1, 0, 4}, {{"ceil_mode", "true"}}, "does not fit into 0x4");
  refused({4, 4}, {}, "input 'self' of shape 4x4 is stored as ND; allowed: NCHW, NC1HWC0");
  EXPECT_THAT(
      [] {
        problem_with(find_op("global_avg_pool2d"), {{1, 1, 0, 4}}, {}, DType::fp32);
      },
      ThrowsMessage<Error>(HasSubstr("has empty planes; a mean needs elements")));
  EXPECT_THAT(
      [] {
        problem_with(find_op("max_pool2d_grad"), {{1, 1, 2, 2}, {1, 1, 2, 3}}, {}, DType::fp32);
      },
      ThrowsMessage<Error>(HasSubstr("allowed: shape and storage of 'grad_output'")));
  EXPECT_THAT(
      [] {
        reference_of_tensors("max_pool2d_grad",
                             {{DType::fp32, {1, 1, 1, 1}, {1}}, {DType::int64, {1, 1, 1, 1}, {4}}});
      },
      ThrowsMessage<Error>(HasSubstr("max_pool2d_grad: indices[0] is 4; allowed: 0 to 3")));
}

}  // namespace opbench
