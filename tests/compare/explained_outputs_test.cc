#include "compare/explained_outputs.h"

#include <gmock/gmock.h>

#include <cmath>

#include "compare/jumps.h"
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

// The optimizer reads what was passed, and what is off in another way fails there.
TEST(CancelledSums, WhereItIsReadItIsTheSame) {
  const std::vector<float> actual = {1e-5F, -2e-5F, 3e-5F, 0},
                           expected = {-1e-5F, 1e-5F, 2e-5F, 1e-5F};
  const auto pair = [&](const std::vector<float>& read) {
    return compare(
        {{"ConvolutionBackward",
          "1",
          {{"input/grads/grads_0", gradients(), gradients()},
           {"output/grad_inputs/grad_inputs_2", actual, expected}}},
         {"sgd", "2", {{"input/grad", read, expected}, {"output/p", {1, 1, 1, 1}, {1, 1, 1, 1}}}}});
  };
  EXPECT_EQ(count(pair(actual).comparison).failed, 0);
  EXPECT_EQ(count(pair({1e-5F, 2e-5F, 3e-5F, 0}).comparison).failed, 1);
}

// As torch sums: [1,C,1,1] of an addition that was broadcast, and sums and means by their names.
TEST(CancelledSums, SumsAndMeansOfAnyName) {
  for (const char* op : {"sum_dim_IntList", "ReduceSumD", "mean_dim"}) {
    const HandMade sample = compare({{op,
                                      "1",
                                      {{"input/self", gradients(), gradients()},
                                       {"output/result", {1e-8F, -2e-8F}, {-1e-8F, 1e-8F}}}}});
    EXPECT_EQ(output_of(sample).judgement.verdict, Verdict::passed) << op;
    EXPECT_FALSE(first_jump(sample.comparison).has_value()) << op;
  }
}

// Only the mean of a norm cancels: its weight's gradient and its inverse deviation do not.
TEST(CancelledSums, OfANormTheMeanAlone) {
  const auto pair = [](const char* op, const char* output) {
    return compare({{op,
                     "1",
                     {{"input/input", gradients(), gradients()},
                      {output, {1e-6F, -1e-6F}, {-1e-6F, 1e-6F}}}}});
  };
  EXPECT_EQ(output_of(pair("native_layer_norm", "output/mean")).judgement.verdict, Verdict::passed);
  EXPECT_EQ(output_of(pair("native_layer_norm", "output/rstd")).judgement.verdict, Verdict::failed);
  EXPECT_EQ(output_of(pair("NativeLayerNormBackward", "output/result1")).judgement.verdict,
            Verdict::failed);
}

// The logarithm of a sum near 1.
TEST(CancelledSums, LossesOfNearlyCertainRows) {
  const auto loss = [](float actual) {
    return compare(
        {{"nll_loss_forward",
          "1",
          {{"input/self", gradients(), gradients()}, {"output/result0", {actual}, {3e-7F}}}}});
  };
  EXPECT_EQ(output_of(loss(6e-7F)).judgement.verdict, Verdict::passed);
  EXPECT_EQ(output_of(loss(6e-5F)).judgement.verdict, Verdict::failed);
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
      compare({{"cumsum",
                "1",
                {{"input/self", gradients(), gradients()},
                 {"output/result", {1e-5F, -2e-5F, 3e-5F, 0}, {-1e-5F, 1e-5F, 2e-5F, 1e-5F}}}}});
  EXPECT_EQ(output_of(sample).judgement.verdict, Verdict::failed);
}

}  // namespace
}  // namespace opbench
