#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/ops/values.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// x[h][w] = 4h + w: a sample between places is 4y + x.
Given ramp() {
  Given x{kFp32, {1, 1, 4, 4}, {}};
  for (int i = 0; i < 16; ++i) x.values.push_back(i);
  return x;
}

std::vector<double> aligned_rois(const std::vector<double>& rois, AttrTexts attrs) {
  attrs.try_emplace("pooled_height", "1");
  attrs.try_emplace("pooled_width", "1");
  const auto columns = std::int64_t{5};
  return agreed_values("roi_align", {ramp(), {kFp32, {std::ssize(rois) / columns, columns}, rois}},
                       attrs);
}

}  // namespace

// Source: torchvision 0.14. One sample is at the centre of the box; aligned ones are half a place
// lower. 0.25 scales the coordinates.
TEST(RoiAlign, SamplesAtTheCentre) {
  const AttrTexts one = {{"sampling_ratio", "1"}};
  EXPECT_THAT(aligned_rois({0, 1, 1, 2, 3}, one), ElementsAre(4 * 2 + 1.5));
  EXPECT_THAT(aligned_rois({0, 1, 1, 2, 3}, {{"sampling_ratio", "1"}, {"aligned", "true"}}),
              ElementsAre(4 * 1.5 + 1));
  EXPECT_THAT(aligned_rois({0, 4, 4, 8, 12}, {{"sampling_ratio", "1"}, {"spatial_scale", "0.25"}}),
              ElementsAre(4 * 2 + 1.5));
}

// Sides are at least 1 unless aligned. Bins of 1.5 places have two samples.
TEST(RoiAlign, AdaptiveGrid) {
  EXPECT_THAT(aligned_rois({0, 1, 1, 1, 1}, {}), ElementsAre(4 * 1.5 + 1.5));
  EXPECT_THAT(aligned_rois({0, 1, 1, 1, 1}, {{"aligned", "true"}}), ElementsAre(0));
  EXPECT_THAT(aligned_rois({0, 0, 0, 3, 2}, {{"pooled_width", "2"}}),
              ElementsAre(4 + 0.75, 4 + 2.25));
}

// Samples below -1 or above 4 are 0; others are taken from the border.
TEST(RoiAlign, BordersOfThePlane) {
  const AttrTexts one = {{"sampling_ratio", "1"}};
  EXPECT_THAT(aligned_rois({0, -2, -2, 0, 0, 0, -3, 0, 0, 2, 0, 3, 3, 5, 5, 0, 4, 3, 5, 5}, one),
              ElementsAre(0, 0, 15, 0));
  EXPECT_THAT(aligned_rois({0, -2, 2, 0, 2}, one), ElementsAre(4 * 2.5));
}

// The sample at (1.25, 2) has factors 3/4 and 1/4 of rows 1 and 2.
TEST(RoiAlign, GradientByHand) {
  const Given dy{kFp32, {1, 1, 1, 1}, {8}}, rois{kFp32, {1, 4}, {1.5, 0.75, 2.5, 1.75}};
  EXPECT_THAT(agreed_values("roi_align_grad", {dy, rois},
                            {{"input_size", "[1,1,3,3]"},
                             {"pooled_height", "1"},
                             {"pooled_width", "1"},
                             {"sampling_ratio", "1"}}),
              ElementsAre(0, 0, 0, 0, 0, 6, 0, 0, 2));
}

TEST(RoiAlign, BoxesAreSpreadOverImages) {
  const Given x{kFp32, {2, 1, 1, 1}, {3, 5}};
  const Given rois{kFp32, {4, 4}, {0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1}};
  EXPECT_THAT(
      agreed_values("roi_align", {x, rois}, {{"pooled_height", "1"}, {"pooled_width", "1"}}),
      ElementsAre(3, 3, 5, 5));
}

TEST(RoiAlign, Refusals) {
  const auto refused = [](const Given& rois, const char* text) {
    EXPECT_THAT(
        [&] {
          agreed_values("roi_align", {ramp(), rois});
        },
        ThrowsMessage<Error>(HasSubstr(text)));
  };
  refused({kFp32, {1, 3}, {0, 0, 0}}, "'rois' has shape 1x3 (images: 1); allowed: [boxes, 5]");
  refused({kFp32, {1, 5}, {1, 0, 0, 1, 1}}, "'rois' has 1 in row 0; allowed: an image below 1");
  refused({kFp32, {1, 4}, {0, 0, 1e9, 1}}, "allowed: up to 4096 places");
  EXPECT_THAT(
      [] {
        problem_with(find_op("roi_align"), {{0, 1, 2, 2}, {1, 4}}, {}, kFp32);
      },
      ThrowsMessage<Error>(HasSubstr("'rois' has shape 1x4 (images: 0)")));
}

}  // namespace opbench
