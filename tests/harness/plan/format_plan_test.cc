// Places of TransData, as in the tuning record. Source of the chains: Ascend's PyTorch tuning guide
// for ShuffleNetV2, concat and GatherV2.
#include "harness/plan/format_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/context_support.h"

namespace opbench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> causes_of(const PlannedStep& step) {
  std::vector<std::string> causes;
  for (const Node& node : step.graph.nodes) {
    if (!node.cause.empty()) causes.push_back(node.cause);
  }
  return causes;
}

// Two branches in 5HD, joined, shuffled by an index, and read by an operator that takes their
// format.
ContextBuilder shuffle_of(std::int64_t channels) {
  ContextBuilder builder("shuffle");
  builder.input("x1", {2, channels, 4, 4}, Format::NC1HWC0)
      .input("x2", {2, channels, 4, 4}, Format::NC1HWC0)
      .parameter("w", {16, 2 * channels, 1, 1})
      .node("cat_shuffle", {"x1", "x2"}, {"y"})
      .node("conv2d", {"y", "w"}, {"z"})
      .output("z");
  return builder;
}

ContextStep full(const ContextBuilder& builder) {
  ContextStep step = builder.step();
  step.variants["cat_shuffle"] = {"full"};
  step.rules.allow_fp32_to_fp16 = false;
  step.rules.weight_format_init = true;
  return step;
}

// 5HD > 4D > Concat > 5HD > 4D > GatherV2 > 5HD: both inputs of Concat are converted.
TEST(FormatPlan, UnalignedConcatIsSurroundedByConversions) {
  const ContextBuilder builder = shuffle_of(58);
  const PlannedStep step = builder.plan(full(builder));
  EXPECT_THAT(chain_of(step), ElementsAre(">NCHW", ">NCHW", "concat", ">NC1HWC0", ">NCHW",
                                          "index_select", ">NC1HWC0", "conv2d"));
  EXPECT_THAT(causes_of(step), Contains("concat: C=58 is not a multiple of 16"));
}

// 5HD > 4D > Concat > GatherV2 > 5HD.
TEST(FormatPlan, ConcatDeclaredNchwSparesTwoConversions) {
  const ContextBuilder builder = shuffle_of(58);
  ContextStep chosen = full(builder);
  chosen.rules.concat_output_nchw = true;
  const PlannedStep step = builder.plan(chosen);
  EXPECT_THAT(chain_of(step),
              ElementsAre(">NCHW", ">NCHW", "concat", "index_select", ">NC1HWC0", "conv2d"));
}

// With whole blocks Concat takes 5HD; only GatherV2 does not.
TEST(FormatPlan, AlignedConcatStaysInBlocks) {
  const ContextBuilder builder = shuffle_of(32);
  for (const bool is_nchw : {false, true}) {
    ContextStep chosen = full(builder);
    chosen.rules.concat_output_nchw = is_nchw;
    EXPECT_THAT(chain_of(builder.plan(chosen)),
                ElementsAre("concat", ">NCHW", "index_select", ">NC1HWC0", "conv2d"));
  }
}

TEST(FormatPlan, DepthwiseOutputFollowsItsRule) {
  ContextBuilder builder("dw");
  builder.input("x", {2, 24, 4, 4}, Format::NC1HWC0)
      .parameter("w", {24, 1, 3, 3})
      .node("conv2d", {"x", "w"}, {"y"}, {{"groups", "24"}, {"padding", "1"}})
      .node("relu", {"y"}, {"z"})
      .output("z");
  ContextStep chosen = builder.step();
  chosen.rules.allow_fp32_to_fp16 = false;
  const std::vector<std::string> before = chain_of(builder.plan(chosen));
  chosen.rules.dwconv_output_5hd = true;
  const std::vector<std::string> after = chain_of(builder.plan(chosen));
  EXPECT_EQ(before.back(), "relu");
  EXPECT_EQ(before[before.size() - 2], ">NCHW");
  EXPECT_EQ(after.size(), before.size() - 1);
}

// Casts around cube operators: operands to fp16, the result back.
TEST(FormatPlan, CubeOperatorsHaveHalfPrecisionOnly) {
  const ContextBuilder builder = shuffle_of(32);
  ContextStep chosen = full(builder);
  chosen.rules.allow_fp32_to_fp16 = true;
  const PlannedStep step = builder.plan(chosen);
  const auto casts = [](const PlannedStep& plan) {
    const std::vector<std::string> chain = chain_of(plan);
    return std::count(chain.begin(), chain.end(), "cast");
  };
  EXPECT_EQ(casts(step), 3);
  EXPECT_EQ(casts(builder.plan(chosen, DType::fp16)), 0);
  EXPECT_EQ(step.graph.tensors[step.results[0].tensor].desc.dtype, DType::fp32);
}

ContextBuilder relu_behind_concat() {
  ContextBuilder builder("relu");
  builder.input("x", {2, 24, 4, 4}, Format::NC1HWC0)
      .input("e", {2, 24, 4, 4})
      .node("relu", {"x"}, {"y"})
      .node("add", {"e", "y"}, {"z"})
      .output("z");
  builder.context().backward = true;
  return builder;
}

// (4D, 5HD) > (4D, 4D) > ReluGrad > 4D > 5HD, or (4D, 5HD) > (5HD, 5HD) > ReluGrad > 5HD.
TEST(FormatPlan, ReluGradFollowsItsGradientUnlessThatIsCast) {
  const ContextBuilder builder = relu_behind_concat();
  ContextStep chosen = builder.step();
  const std::vector<std::string> before = chain_of(builder.plan(chosen));
  EXPECT_THAT(std::vector<std::string>(before.end() - 3, before.end()),
              ElementsAre(">NCHW", "relu_grad", ">NC1HWC0"));
  chosen.rules.relu_grad_cast = true;
  const std::vector<std::string> after = chain_of(builder.plan(chosen));
  EXPECT_THAT(std::vector<std::string>(after.end() - 2, after.end()),
              ElementsAre(">NC1HWC0", "relu_grad"));
}

// The backward pass of Full gathers twice from one gradient in 5HD.
TEST(FormatPlan, GradientOfFullIsCastOnce) {
  ContextBuilder builder = shuffle_of(58);
  builder.context().backward = true;
  ContextStep chosen = full(builder);
  const auto conversions = [&] {
    const std::vector<std::string> chain = chain_of(builder.plan(chosen));
    const auto gather = std::find(chain.begin() + 8, chain.end(), "index_select");
    return std::count(gather - 1, chain.end(), ">NCHW");
  };
  const auto twice = conversions();
  chosen.rules.grad_cast_once = true;
  EXPECT_EQ(conversions(), twice - 1);
}

// Axpy on 1-D parameters of BN in 5HD: only equal shapes pass the check.
TEST(FormatPlan, AxpyOfUnalignedParametersIsCastUnlessShapesAreEqual) {
  ContextBuilder builder("update");
  builder.input("x", {2, 24, 4, 4}, Format::NC1HWC0)
      .parameter("gamma", {24})
      .parameter("beta", {24})
      .parameter("mean", {24})
      .parameter("var", {24})
      .node("batch_norm", {"x", "gamma", "beta", "mean", "var"}, {"y"})
      .output("y");
  builder.context().backward = true;
  builder.context().update = ContextUpdate{0.1};
  ContextStep chosen = builder.step();
  chosen.rules.weight_format_init = true;
  const PlannedStep before = builder.plan(chosen);
  EXPECT_THAT(causes_of(before), Contains(HasSubstr("axpy: C=24 is not a multiple of 16")));
  chosen.rules.axpy_equal_shapes = true;
  const PlannedStep after = builder.plan(chosen);
  EXPECT_THAT(causes_of(after), testing::Not(Contains(HasSubstr("axpy: C=24"))));
  EXPECT_LT(after.graph.nodes.size(), before.graph.nodes.size());
}

// Without the initialisation, every call converts every weight.
TEST(FormatPlan, WeightsAreConvertedByEveryCallUnlessInitialised) {
  const ContextBuilder builder = shuffle_of(32);
  ContextStep chosen = full(builder);
  const std::vector<std::string> initialised = chain_of(builder.plan(chosen));
  chosen.rules.weight_format_init = false;
  const std::vector<std::string> plain = chain_of(builder.plan(chosen));
  EXPECT_THAT(initialised, testing::Not(Contains(">FRACTAL_Z")));
  EXPECT_THAT(plain, Contains(">FRACTAL_Z"));
}

// In mixed precision the fp32 parameter is cast first, in the format of the cast's reader.
TEST(FormatPlan, InitialisedWeightsAreCastAsTheyLie) {
  const ContextBuilder builder = shuffle_of(32);
  ContextStep chosen = full(builder);
  chosen.precision.level = Precision::Level::O2;
  EXPECT_THAT(chain_of(builder.plan(chosen)), testing::Not(Contains(">FRACTAL_Z")));
}

// A step that no kernel takes does not prevent the others from running.
TEST(FormatPlan, NoKernelIsARefusalWithTheReason) {
  const ContextBuilder builder = shuffle_of(58);
  ContextStep chosen = full(builder);
  chosen.variants["conv2d"] = {"depthwise_conv2d"};
  EXPECT_THAT(builder.plan(chosen).refusal(), HasSubstr("no kernel takes it: depthwise_conv2d:"));
}

}  // namespace
}  // namespace opbench
