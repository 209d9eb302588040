#include "harness/plan/lower_bound.h"

#include <gtest/gtest.h>

#include "harness/plan/remedy.h"
#include "tests/harness/context_support.h"
#include "tests/harness/plan/remedy_support.h"

namespace opbench {
namespace {

LowerBound bound_of(const ContextBuilder& builder, DType dtype = DType::fp16) {
  ContextBuilder copy = builder;
  StepSearch step(copy.context(), builder.step(), dtype);
  LowerBounds bounds(step.search, step.choices, step.written);
  return bounds.of(step.search.graph_of(Point(step.choices.size())));
}

ContextBuilder conv_of(std::optional<Format> format) {
  ContextBuilder builder("conv");
  builder.input("x", {1, 16, 4, 4}, format).parameter("w", {16, 16, 1, 1});
  return builder;
}

}  // namespace

// The device convolves NC1HWC0 only; its weight may be stored as it takes it.
TEST(LowerBound, CountsInputsThatArriveOtherwise) {
  EXPECT_EQ(bound_of(conv_of({}).node("conv2d", {"x", "w"}, {"y"}).output("y")).trans_data, 1);
  EXPECT_EQ(
      bound_of(conv_of(Format::NC1HWC0).node("conv2d", {"x", "w"}, {"y"}).output("y")).trans_data,
      0);
}

// A tensor is converted once, however many want it so.
TEST(LowerBound, CountsATensorOnce) {
  ContextBuilder builder = conv_of({});
  builder.parameter("v", {16, 16, 1, 1})
      .node("conv2d", {"x", "w"}, {"y"})
      .node("conv2d", {"x", "v"}, {"z"})
      .output("y")
      .output("z");
  EXPECT_EQ(bound_of(builder).trans_data, 1);
}

// Between a convolution and a gather something converts, and relu may stand on either side of it.
TEST(LowerBound, OperatorsThatTakeBothAreOnTheCheaperSide) {
  ContextBuilder builder = conv_of(Format::NC1HWC0);
  builder.input("i", {16})
      .node("conv2d", {"x", "w"}, {"a"})
      .node("relu", {"a"}, {"b"})
      .node("index_select", {"b", "i"}, {"c"}, {{"axis", "1"}})
      .node("relu", {"c"}, {"d"})
      .node("relu", {"d"}, {"e"})
      .output("e");
  EXPECT_EQ(bound_of(builder).trans_data, 1);
}

// In fp32 the cube unit takes x and the weight in fp16, and gives y in fp16.
TEST(LowerBound, CountsCastsAroundTheCubeUnit) {
  const ContextBuilder builder =
      conv_of(Format::NC1HWC0).node("conv2d", {"x", "w"}, {"y"}).output("y");
  EXPECT_EQ(bound_of(builder, DType::fp32).casts, 3);
  EXPECT_EQ(bound_of(builder, DType::fp16).casts, 0);
}

TEST(LowerBound, IsNotAboveAnyPlan) {
  const Context context = context_in("shufflenet_v2_unit.yaml", "stride2");
  for (const ContextStep& step : context.steps) {
    const Remedy remedy = find_remedy(context, step, DType::fp32);
    EXPECT_LE(remedy.bound->trans_data, remedy.after().trans_data) << step.name;
    EXPECT_LE(remedy.bound->casts, remedy.after().casts) << step.name;
  }
}

}  // namespace opbench
