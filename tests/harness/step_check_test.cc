// Results of one step beside those of another.
#include "harness/step_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace opbench {
namespace {

using testing::HasSubstr;

StepResult result(const std::string& name, std::vector<float> values) {
  return {name, describe(DType::fp32, {std::ssize(values)}), std::move(values)};
}

// What is off by less than 2^-8 of all gradients together is rounding: 2^-8*300 is 1.17.
TEST(CompareResults, GradientsMayDifferByTheNoiseOfAllOfThem) {
  const std::vector<StepResult> first = {result("grad_w", {300, 0}), result("grad_b", {0, 0})};
  const auto verdict = [&](float b) {
    return compare_results({first[0], result("grad_b", {b, 0})}, first, {}).verdict;
  };
  EXPECT_NE(verdict(1.0f), Verdict::failed);
  EXPECT_EQ(verdict(1.5f), Verdict::failed);
}

TEST(CompareResults, NanAndInfInAGradientAreNoNoise) {
  const std::vector<StepResult> first = {result("grad_w", {300, 0}), result("grad_b", {1, 1})};
  for (const float wrong : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    const Judgement judged =
        compare_results({first[0], result("grad_b", {wrong, 1})}, first, ContextStandard{});
    EXPECT_EQ(judged.verdict, Verdict::failed) << wrong;
    EXPECT_THAT(judged.reason, HasSubstr("grad_b"));
  }
}

}  // namespace
}  // namespace opbench
