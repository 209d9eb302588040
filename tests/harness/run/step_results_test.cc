// Results of one step compared with those of another.
#include "harness/run/step_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/harness/run/run_context.h"

namespace opbench {
namespace {

using testing::HasSubstr;

// The error bounds that another run of the step would find for grad_b and y.
FindRounding finds(double rounding) {
  return [rounding](const std::vector<std::string>&) {
    return RoundingOfResults{{"grad_b", rounding}, {"y", rounding}};
  };
}

StepResult result(const std::string& name, const std::vector<float>& values) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(values.data());
  return {name,
          describe(DType::fp32, {std::ssize(values)}),
          {bytes, bytes + values.size() * sizeof(float)}};
}

// Rounding of 1.5625 for one element, half on each side, is 2.21 for two.
TEST(CompareResults, AGradientThatCancelsMayDifferByRounding) {
  const auto verdict = [](const std::string& name, float found, double rounding) {
    return compare_results({result(name, {found, 0})}, {result(name, {0, 0})}, {},
                           finds(rounding / 2))
        .verdict;
  };
  EXPECT_NE(verdict("grad_b", 2.2f, 1.5625), Verdict::failed);
  EXPECT_EQ(verdict("grad_b", 2.3f, 1.5625), Verdict::failed);
  EXPECT_EQ(verdict("grad_b", 2.2f, 0), Verdict::failed) << "no sum";
  EXPECT_EQ(verdict("y", 2.2f, 1.5625), Verdict::failed) << "an output";
}

TEST(CompareResults, NanAndInfInAGradientAreNoNoise) {
  const std::vector<StepResult> first = {result("grad_w", {300, 0}), result("grad_b", {1, 1})};
  for (const float wrong : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    const Judgement judged =
        compare_results({first[0], result("grad_b", {wrong, 1})}, first, {}, finds(1.5));
    EXPECT_EQ(judged.verdict, Verdict::failed) << wrong;
    EXPECT_THAT(judged.reason, HasSubstr("grad_b"));
  }
}

TEST(CompareResults, RoundingIsAskedForWhereGradientsFail) {
  std::vector<std::string> asked;
  const FindRounding find = [&](const std::vector<std::string>& gradients) {
    asked = gradients;
    return RoundingOfResults();
  };
  const std::vector<StepResult> first = {result("y", {1}), result("grad_a", {1}),
                                         result("grad_b", {1})};
  EXPECT_NE(compare_results(first, first, {}, find).verdict, Verdict::failed);
  EXPECT_THAT(asked, testing::IsEmpty());
  const Judgement judged =
      compare_results({first[0], first[1], result("grad_b", {2})}, first, {}, find);
  EXPECT_EQ(judged.verdict, Verdict::failed);
  EXPECT_THAT(asked, testing::ElementsAre("grad_b"));
}

const std::string kTraining =
    "contexts:\n"
    "  - name: small\n"
    "    inputs: {x: [2, 16, 6, 6]}\n"
    "    parameters: {weight: [16, 16, 3, 3], gamma: [16], beta: [16], mean: [16], var: [16]}\n"
    "    nodes:\n"
    "      - {name: conv, op: conv2d, in: [x, weight], out: c, attrs: {padding: 1}}\n"
    "      - {name: bn, op: batch_norm, in: [c, gamma, beta, mean, var], out: b}\n"
    "      - {name: relu, op: relu, in: b, out: y}\n"
    "    outputs: [y]\n";
const std::string kSteps =
    "    steps: [{name: framework, variants: {default: native}}, {name: device, standard: "
    "cosine}]\n";

}  // namespace

TEST(Anchor, TellsWhatFp16OperandsCost) {
  const std::vector<Record> records = run_text(kTraining + "    backward: true\n" + kSteps);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].step->gradient_error, 0.0) << "the anchor's own kernels";
  ASSERT_TRUE(records[1].step->gradient_error);
  EXPECT_GT(*records[1].step->gradient_error, 1e-5);
  EXPECT_LT(*records[1].step->gradient_error, 1e-2) << "2^-11 a factor, amplified a little";
}

TEST(Anchor, IsOfTrainingOnly) {
  for (const Record& record : run_text(kTraining + kSteps)) {
    EXPECT_FALSE(record.step->gradient_error) << record.variant;
  }
  RunOptions unverified = quick();
  unverified.verify = false;
  for (const Record& record :
       run_planned(planned_text(kTraining + "    backward: true\n" + kSteps), unverified)) {
    EXPECT_FALSE(record.step->gradient_error) << "nothing was compared";
  }
}

TEST(Anchor, RunningStatisticsAreResults) {
  const PlannedContext planned = planned_text(kTraining + kSteps);
  for (const PlannedStep& step : planned.steps) {
    std::vector<std::string> names;
    for (const GraphResult& result : step.results) names.push_back(result.name);
    EXPECT_THAT(names, testing::ElementsAre("y", "updated_mean", "updated_var"));
  }
}

}  // namespace opbench
