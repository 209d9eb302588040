// Results of one step beside those of another.
#include "harness/run/step_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace opbench {
namespace {

using testing::HasSubstr;

StepResult result(const std::string& name, const std::vector<float>& values,
                  double random_sum = 0) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(values.data());
  return {name,
          describe(DType::fp32, {std::ssize(values)}),
          {bytes, bytes + values.size() * sizeof(float)},
          random_sum};
}

// Terms that would come to 100 at random leave 100*2^-6 = 1.5625 an element, 2.21 for two.
TEST(CompareResults, AGradientThatCancelsMayDifferByRounding) {
  const auto verdict = [](const std::string& name, float found, double random_sum) {
    return compare_results({result(name, {found, 0}, random_sum)}, {result(name, {0, 0})}, {})
        .verdict;
  };
  EXPECT_NE(verdict("grad_b", 2.2f, 100), Verdict::failed);
  EXPECT_EQ(verdict("grad_b", 2.3f, 100), Verdict::failed);
  EXPECT_EQ(verdict("grad_b", 2.2f, 0), Verdict::failed) << "no sum";
  EXPECT_EQ(verdict("y", 2.2f, 100), Verdict::failed) << "an output";
}

TEST(CompareResults, NanAndInfInAGradientAreNoNoise) {
  const std::vector<StepResult> first = {result("grad_w", {300, 0}), result("grad_b", {1, 1}, 100)};
  for (const float wrong : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    const Judgement judged =
        compare_results({first[0], result("grad_b", {wrong, 1}, 100)}, first, ContextStandard{});
    EXPECT_EQ(judged.verdict, Verdict::failed) << wrong;
    EXPECT_THAT(judged.reason, HasSubstr("grad_b"));
  }
}

}  // namespace
}  // namespace opbench
