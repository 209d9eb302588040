// Steps of quantisers: exact, except next to a tie.
#include <gtest/gtest.h>

#include "judge/judge_output.h"
#include "tests/evaluate.h"

namespace opbench {
namespace {

// The verdict on `step` as the int8 step of x*scale.
Verdict verdict_on(double x, double scale, double step) {
  const Op& op = find_op("ascend_quant_v2");
  const TensorDesc one = describe(DType::fp32, {1});
  const Problem problem = make_problem(op, {one, one}, attrs_of(op, {}));
  const float number = float(x), factor = float(scale);
  std::int8_t stored = std::int8_t(step);
  CallToJudge call{.problem = problem};
  call.inputs = {&number, &factor};
  call.outputs = {&stored};
  return judge_output(call, 0).judgement.verdict;
}

}  // namespace

TEST(QuantisedSteps, AreExactAwayFromTies) {
  EXPECT_NE(verdict_on(2.4, 1, 2), Verdict::failed);
  EXPECT_EQ(verdict_on(2.4, 1, 3), Verdict::failed);
  EXPECT_EQ(verdict_on(2.499, 1, 3), Verdict::failed);
  EXPECT_EQ(verdict_on(500, 1, 126), Verdict::failed) << "clipped to 127";
}

// 25*0.1 is 2.5 + 3.7e-8, as 0.1 is rounded to fp32: its product in fp32 is the tie 2.5.
TEST(QuantisedSteps, MayBeBothNextToATie) {
  EXPECT_NE(verdict_on(25, 0.1, 3), Verdict::failed);
  EXPECT_NE(verdict_on(25, 0.1, 2), Verdict::failed);
  EXPECT_EQ(verdict_on(25, 0.1, 4), Verdict::failed);
  EXPECT_EQ(verdict_on(25, 0.1, 1), Verdict::failed);
}

}  // namespace opbench
