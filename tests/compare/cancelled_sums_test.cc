#include "compare/cancelled_sums.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/compare/comparison_support.h"

namespace opbench {
namespace {

using compare_tests::compare;
using compare_tests::HandMade;

// 4,096 gradients of size 1 for each of four channels.
std::vector<float> gradients() {
  std::vector<float> values(std::size_t{4} * 4096);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i % 2 == 0 ? 1.0F : -1.0F;
  return values;
}

HandMade bias_gradient(const std::vector<float>& actual, const std::vector<float>& expected) {
  return compare({{"ConvolutionBackward",
                   "1",
                   {{"input/grads/grads_0", gradients(), gradients()},
                    {"output/grad_inputs/grad_inputs_2", actual, expected}}}});
}

const TensorResult& output_of(const HandMade& sample) {
  return sample.comparison.operators[0].tensors[1];
}

TEST(CancelledSums, RoundingOfTheTermsPasses) {
  const HandMade sample = bias_gradient({1e-5F, -2e-5F, 3e-5F, 0}, {-1e-5F, 1e-5F, 2e-5F, 1e-5F});
  const TensorResult& output = output_of(sample);
  EXPECT_EQ(output.judgement.verdict, Verdict::passed) << output.judgement.reason;
  // Terms of 1 with random signs: sqrt(4096).
  EXPECT_DOUBLE_EQ(output.stats.scale, 64);
  EXPECT_EQ(output.stats.inside, 4);
  EXPECT_NEAR(output.stats.min_tolerance, 3e-5 / 64, 1e-9);
  EXPECT_EQ(sample.comparison.operators[0].origin, Origin::none);
  EXPECT_EQ(exit_code(sample.comparison, FailOn::any), kAllWell);
}

TEST(CancelledSums, MoreThanRoundingFails) {
  const HandMade sample = bias_gradient({2, 1, 3, 1}, {1, 1, 3, 1});
  EXPECT_EQ(output_of(sample).judgement.verdict, Verdict::failed);
  EXPECT_EQ(sample.comparison.operators[0].origin, Origin::introduced);
}

TEST(CancelledSums, NanFails) {
  const HandMade sample = bias_gradient({NAN, 1, 3, 1}, {1, 1, 3, 1});
  EXPECT_EQ(output_of(sample).judgement.verdict, Verdict::failed);
}

// What is no gradient of a bias is held to itself.
TEST(CancelledSums, OtherOperatorsAreHeldToTheirOwnScale) {
  const HandMade sample =
      compare({{"sum",
                "1",
                {{"input/self", gradients(), gradients()},
                 {"output/result", {1e-5F, -2e-5F, 3e-5F, 0}, {-1e-5F, 1e-5F, 2e-5F, 1e-5F}}}}});
  EXPECT_EQ(output_of(sample).judgement.verdict, Verdict::failed);
}

}  // namespace
}  // namespace opbench
