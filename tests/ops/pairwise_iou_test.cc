#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/on_tensors.h"
#include "tests/support.h"

namespace opbench {

using testing::DoubleNear;
using testing::HasSubstr;
using testing::Pointwise;
using testing::ThrowsMessage;

// Source: the boxes and values of detectron2's own test (tests/structures/test_boxes.py,
// TestBoxIOU).
std::vector<Given> iou_example(DType dtype) {
  return {{dtype, {2, 4}, {0, 0, 1, 1, 0, 0, 1, 1}},
          {dtype, {6, 4}, {0, 0, 1,   1,   0,   0,   0.5, 1, 0,   0,   1,   0.5,
                           0, 0, 0.5, 0.5, 0.5, 0.5, 1,   1, 0.5, 0.5, 1.5, 1.5}}};
}

TEST(PairwiseIou, PublishedExample) {
  const double half_iou = 0.5, quarter = 0.25, seventh = 0.25 / (2 - 0.25);
  const std::vector<double> row = {1, half_iou, half_iou, quarter, quarter, seventh};
  std::vector<double> expected = row;
  expected.insert(expected.end(), row.begin(), row.end());
  EXPECT_THAT(reference_of_tensors("pairwise_iou", iou_example(DType::fp32))[0],
              Pointwise(DoubleNear(1e-12), expected));
  EXPECT_THAT(kernel_on_tensors("pairwise_iou", "native", iou_example(DType::fp32))[0],
              Pointwise(DoubleNear(1e-7), expected));
}

TEST(PairwiseIou, IsZeroWithoutIntersection) {
  const std::vector<Given> inputs = {
      {DType::fp32, {1, 4}, {0, 0, 10, 10}},
      {DType::fp32, {3, 4}, {10, 0, 20, 10, 11, 11, 12, 12, 5, 5, 5, 5}}};
  const std::vector<double> zeros(3);
  EXPECT_EQ(reference_of_tensors("pairwise_iou", inputs)[0], zeros);
  for (const char* variant : {"native", "ptiou"}) {
    EXPECT_EQ(kernel_on_tensors("pairwise_iou", variant, inputs)[0], zeros) << variant;
  }
}

// Equal boxes of side a give a^2 / (2 (a + 0.01)^2 - a^2). eps has no visible effect on a box of
// 100 and takes 4% from a box of 1.
TEST(PairwiseIou, PtiouAddsEpsToAreasOnly) {
  on_every_isa([] {
    const auto same = [](double side) {
      const std::vector<double> box = {0, 0, side, side};
      return kernel_on_tensors("pairwise_iou", "ptiou",
                               {{DType::fp32, {1, 4}, box}, {DType::fp32, {1, 4}, box}})[0][0];
    };
    EXPECT_NEAR(same(100), 1, 0.002);
    EXPECT_NEAR(same(1), 1 / (2 * 1.01 * 1.01 - 1), 0.004);
    EXPECT_LT(same(1), 0.97);
  });
}

// The area of a box larger than 1280 x 1280 overflows fp16.
TEST(PairwiseIou, PtiouOverflowsForLargeBoxes) {
  const auto same = [](double side) {
    const std::vector<double> box = {0, 0, side, side};
    return kernel_on_tensors("pairwise_iou", "ptiou",
                             {{DType::fp32, {1, 4}, box}, {DType::fp32, {1, 4}, box}})[0][0];
  };
  EXPECT_NEAR(same(900), 1, 0.002);
  EXPECT_FALSE(same(1300) > 0.5);
}

TEST(PairwiseIou, NamesWhatDoesNotFit) {
  const Op& op = find_op("pairwise_iou");
  EXPECT_THAT(
      [&] {
        make_problem(op, {describe(DType::fp32, {2, 4}), describe(DType::fp32, {2, 5})},
                     Attrs(op.attrs));
      },
      ThrowsMessage<Error>(HasSubstr("'boxes2' has shape 2x5; allowed: Nx4")));
}

}  // namespace opbench
