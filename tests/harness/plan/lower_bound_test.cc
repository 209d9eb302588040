#include "harness/plan/lower_bound.h"

#include <gtest/gtest.h>

#include <random>

#include "harness/plan/remedy.h"
#include "tests/harness/context_support.h"
#include "tests/harness/plan/remedy_support.h"

namespace opbench {

// Source: Cormen, Leiserson, Rivest, Stein, Introduction to Algorithms, figure 26.1: a flow of 23.
TEST(MinCut, FindsTheFlowOfTheTextbook) {
  MinCut cut;
  for (int i = 0; i < 6; ++i) cut.add_vertex();
  for (const auto& [a, b, capacity] : {std::tuple{0, 1, 16},
                                       {0, 2, 13},
                                       {1, 3, 12},
                                       {2, 1, 4},
                                       {2, 4, 14},
                                       {3, 2, 9},
                                       {3, 5, 20},
                                       {4, 3, 7},
                                       {4, 5, 4}}) {
    cut.add_edge(a, b, capacity);
  }
  EXPECT_EQ(cut.value(0, 5), 23);
}

TEST(MinCut, IsNothingWhereNothingLeads) {
  MinCut cut;
  for (int i = 0; i < 3; ++i) cut.add_vertex();
  cut.add_edge(0, 1, 5);
  cut.add_edge(2, 1, 5);
  EXPECT_EQ(cut.value(0, 2), 0);
}

TEST(MinCut, TakesALongChain) {
  constexpr int kLong = 300'000;
  MinCut cut;
  for (int i = 0; i <= kLong; ++i) cut.add_vertex();
  for (int i = 0; i < kLong; ++i) cut.add_edge(i, i + 1, i == kLong / 2 ? 1 : 2, 1);
  EXPECT_EQ(cut.value(0, kLong), 1);
}

// Compares with all cuts of eight vertices.
TEST(MinCut, IsTheLeastOfAllCuts) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    MinCut cut;
    int capacity[8][8] = {};
    for (int i = 0; i < 8; ++i) cut.add_vertex();
    for (int edge = 0; edge < 16; ++edge) {
      const int a = int(random() % 8), b = int(random() % 8), both = int(random() % 4);
      if (a == b) continue;
      capacity[a][b] += both;
      capacity[b][a] += both;
      cut.add_edge(a, b, both, both);
    }
    int least = MinCut::kUnlimited;
    for (unsigned side = 0; side < 256; ++side) {
      if ((side & 1) == 0 || (side & 128) != 0) continue;
      int sum = 0;
      for (int a = 0; a < 8; ++a) {
        for (int b = 0; b < 8; ++b) {
          if ((side >> a & 1) != 0 && (side >> b & 1) == 0) sum += capacity[a][b];
        }
      }
      least = std::min(least, sum);
    }
    EXPECT_EQ(cut.value(0, 7), least);
  }
}

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

// The device convolves NC1HWC0 only. Its weight may be stored in that format.
TEST(LowerBound, CountsInputsThatArriveOtherwise) {
  EXPECT_EQ(bound_of(conv_of({}).node("conv2d", {"x", "w"}, {"y"}).output("y")).trans_data, 1);
  EXPECT_EQ(
      bound_of(conv_of(Format::NC1HWC0).node("conv2d", {"x", "w"}, {"y"}).output("y")).trans_data,
      0);
}

// A tensor is converted once for all its readers.
TEST(LowerBound, CountsATensorOnce) {
  ContextBuilder builder = conv_of({});
  builder.parameter("v", {16, 16, 1, 1})
      .node("conv2d", {"x", "w"}, {"y"})
      .node("conv2d", {"x", "v"}, {"z"})
      .output("y")
      .output("z");
  EXPECT_EQ(bound_of(builder).trans_data, 1);
}

// A conversion is needed between a convolution and a gather; relu may be on either side of it.
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

// In fp32 the cube unit takes x and the weight in fp16, and writes y in fp16.
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
