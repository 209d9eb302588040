#include <gmock/gmock.h>

#include "judge/judge_output.h"
#include "tensor/error.h"
#include "tests/ops/values.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// Boxes 0 and 1 overlap by 1/3, boxes 1 and 2 by 1/3, box 3 is apart.
const Given kRow{kFp32, {4, 4}, {0, 0, 2, 1, 1, 0, 3, 1, 2, 0, 4, 1, 9, 9, 10, 10}};
Given scores_of(const std::vector<double>& values) { return {kFp32, {std::ssize(values)}, values}; }

Verdict verdict_on_boxes(const Given& boxes, const Given& scores, const std::vector<double>& keep,
                         const std::string& threshold) {
  const Problem problem =
      problem_with(find_op("nms"), {boxes.shape, scores.shape},
                   {{"iou_threshold", threshold}, {"rows", std::to_string(keep.size())}}, kFp32);
  Tensor tensors[] = {Tensor(problem.inputs[0]), Tensor(problem.inputs[1]),
                      Tensor(problem.outputs[0])};
  const std::vector<double>* const values[] = {&boxes.values, &scores.values, &keep};
  for (std::size_t i = 0; i < 3; ++i) {
    const TensorDesc& desc = tensors[i].desc;
    from_doubles(desc.dtype, values[i]->data(), desc.elements(), tensors[i].data());
  }
  const CallToJudge call{.problem = problem,
                         .inputs = {tensors[0].data(), tensors[1].data()},
                         .outputs = {tensors[2].data()}};
  return judge_output(call, 0).judgement.verdict;
}

}  // namespace

// Box 1 suppresses its neighbours; box 0 suppresses only box 1. Rows without a box have the number
// 4. Of equal scores the first box is better.
TEST(Nms, ByHand) {
  const AttrTexts low = {{"iou_threshold", "0.25"}};
  EXPECT_THAT(agreed_values("nms", {kRow, scores_of({1, 3, 2, 4})}, low), ElementsAre(3, 1, 4, 4));
  EXPECT_THAT(agreed_values("nms", {kRow, scores_of({3, 2, 1, 0})}, low), ElementsAre(0, 2, 3, 4));
  EXPECT_THAT(agreed_values("nms", {kRow, scores_of({1, 1, 1, 1})}, low), ElementsAre(0, 2, 3, 4));
  EXPECT_THAT(agreed_values("nms", {kRow, scores_of({1, 3, 2, 4})}), ElementsAre(3, 1, 2, 0));
}

TEST(Nms, LeavesOutLowScoresAndFurtherBoxes) {
  EXPECT_THAT(agreed_values("nms", {kRow, scores_of({1, 3, 2, 4})},
                            {{"score_threshold", "2"}, {"rows", "3"}}),
              ElementsAre(3, 1, 4));
  EXPECT_THAT(agreed_values("nms", {kRow, scores_of({1, 3, 2, 4})},
                            {{"max_output_size", "1"}, {"rows", "2"}}),
              ElementsAre(3, 4));
}

// 1/2 is exact: a greater overlap alone suppresses. 0.7 is not exact, nor the overlap of 7/10.
TEST(Nms, EitherIsRightAtARoundedThreshold) {
  const Given halves{kFp32, {2, 4}, {0, 0, 2, 1, 0, 0, 1, 1}};
  const Given tenths{kFp32, {2, 4}, {0, 0, 10, 1, 0, 0, 7, 1}};
  const Given scores = scores_of({2, 1});
  EXPECT_THAT(agreed_values("nms", {halves, scores}), ElementsAre(0, 1));
  for (const std::vector<double>& keep : {std::vector<double>{0, 1}, std::vector<double>{0}}) {
    EXPECT_EQ(verdict_on_boxes(tenths, scores, keep, "0.7"), Verdict::passed);
  }
  EXPECT_EQ(verdict_on_boxes(tenths, scores, {0}, "0.71"), Verdict::failed);
  EXPECT_EQ(verdict_on_boxes(tenths, scores, {0, 1}, "0.69"), Verdict::failed);
  EXPECT_EQ(verdict_on_boxes(tenths, scores, {1, 0}, "0.7"), Verdict::failed);
}

// Areas of equal boxes overflow or underflow in fp32; their quotient is NaN then.
TEST(Nms, EitherIsRightForAreasBeyondFp32) {
  const Given scores = scores_of({2, 1});
  for (const double side : {1e-30, 1.0, 1e30}) {
    const Given boxes{kFp32, {2, 4}, {0, 0, side, side, 0, 0, side, side}};
    EXPECT_EQ(verdict_on_boxes(boxes, scores, {0}, "0.5"), Verdict::passed);
    EXPECT_EQ(verdict_on_boxes(boxes, scores, {0, 1}, "0.5"),
              side == 1 ? Verdict::failed : Verdict::passed);
  }
}

TEST(Nms, EqualScoresMayComeInAnyOrder) {
  const Given scores = scores_of({1, 1, 1, 1});
  EXPECT_EQ(verdict_on_boxes(kRow, scores, {1, 3}, "0.25"), Verdict::passed);
  EXPECT_EQ(verdict_on_boxes(kRow, scores, {3, 2, 0}, "0.25"), Verdict::passed);
  EXPECT_EQ(verdict_on_boxes(kRow, scores, {3, 2}, "0.25"), Verdict::failed) << "box 0 is missing";
  EXPECT_EQ(verdict_on_boxes(kRow, scores, {0, 1, 2, 3}, "0.25"), Verdict::failed) << "all kept";
  EXPECT_EQ(verdict_on_boxes(kRow, scores, {0, 0, 2, 3}, "0.25"), Verdict::failed) << "one twice";
}

TEST(Nms, Refusals) {
  EXPECT_THAT(
      [&] {
        agreed_values("nms", {kRow, scores_of({1})});
      },
      ThrowsMessage<Error>(HasSubstr("allowed: [boxes, 4] (x1, y1, x2, y2)")));
  EXPECT_THAT(
      [&] {
        agreed_values("nms", {kRow, scores_of({1, 2, 3, 4})}, {{"rows", "0"}});
      },
      ThrowsMessage<Error>(HasSubstr("'keep' has no rows, but 4 boxes are kept")));
}

}  // namespace opbench
