// Compares the search with the planner, and with an exhaustive search.
#include "harness/plan/remedy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>

#include "harness/plan/remedy_report.h"
#include "tests/harness/context_support.h"
#include "tests/harness/plan/remedy_support.h"

namespace opbench {
namespace {

class LadderTest : public testing::Test {
 protected:
  Point written() const { return Point(step_.choices.size()); }
  void set(Point& point, const std::string& name, const std::string& word) const {
    for (std::size_t i = 0; i < step_.choices.size(); ++i) {
      const auto& words = step_.choices[i].words;
      if (step_.choices[i].name != name) continue;
      point[i] = std::size_t(std::find(words.begin(), words.end(), word) - words.begin());
    }
  }
  FoundPlan found(const Point& point) { return {point, *step_.search.cost_of(point)}; }

  const Context context_ = context_in("shufflenet_v2_unit.yaml", "stride1");
  StepSearch step_{context_, context_.steps.front(), DType::fp32};
};

}  // namespace

// The largest saving first: concat_output_nchw saves 14 of 21 TransData, relu_grad_cast another.
TEST_F(LadderTest, TakesWhatSparesMostFirst) {
  Point goal = written();
  set(goal, "relu_grad_cast", "true");
  set(goal, "concat_output_nchw", "true");
  const auto steps = steps_to(found(goal), found(written()).cost, step_.search);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].cost.trans_data, 7);
  EXPECT_EQ(steps[1].cost.trans_data, 6);
  EXPECT_EQ(steps[1].point, goal);
}

// axpy_equal_shapes has no effect in a context without an update.
TEST_F(LadderTest, LeavesOutWhatSparesNothing) {
  Point goal = written();
  set(goal, "concat_output_nchw", "true");
  set(goal, "axpy_equal_shapes", "true");
  const auto steps = steps_to(found(goal), found(written()).cost, step_.search);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(changes_of(steps[0].point), 1u);
}

TEST_F(LadderTest, IsEmptyAtTheGoal) {
  EXPECT_TRUE(steps_to(found(written()), found(written()).cost, step_.search).empty());
}

TEST_F(LadderTest, ADescentIsBetterThanItsStart) {
  const FoundPlan start = found(written());
  const FoundPlan end = descend(start, step_.choices, step_.search);
  EXPECT_LT(end.cost, start.cost);
  EXPECT_EQ(end.cost, *step_.search.cost_of(end.point));
}

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kUnit = "shufflenet_v2_unit.yaml";

std::vector<std::string> texts_of(const Remedy& remedy) {
  std::vector<std::string> texts;
  for (const RemedyStep& step : remedy.steps) texts.push_back(changes_text(step));
  return texts;
}

/// Words of every choice whose plans differ from those of earlier words.
using Words = std::vector<std::vector<std::size_t>>;

// The properties of a task's kernels that a planner uses: for each candidate, up to the first that
// takes it in some format, its provider and the formats that it takes.
std::string kernels_seen(const Node& node, const PlanSetting& setting) {
  std::string seen;
  for (const bool is_on : {false, true}) {
    PlanSetting asked = setting;
    asked.rules.axpy_equal_shapes = is_on;  // the only rule that refuses formats
    NodePlanner planner(asked.variants, asked.rules);
    for (const Kernel* kernel : planner.candidates(node)) {
      seen += kernel->provider == Provider::npu ? " npu" : " native";
      bool takes_any = false;
      for (const Format format : node.problem.op->formats) {
        Problem problem;
        const bool takes = planner.fit(node, *kernel, format, problem).empty();
        seen += takes ? '1' : '0';
        takes_any |= takes;
      }
      if (takes_any) break;
    }
  }
  return seen;
}

// Two kernels with equal properties in every task of every graph give the same plans.
Words words_that_differ(const StepSearch& step, const std::vector<Point>& graphs) {
  Words words;
  std::vector<std::set<std::string>> seen(step.choices.size());
  for (std::size_t i = 0; i < step.choices.size(); ++i) {
    const Choice& choice = step.choices[i];
    words.emplace_back();
    for (std::size_t word = 0; word < choice.words.size(); ++word) {
      std::string text = choice.rule != nullptr || choice.is_graph ? choice.words[word] : "";
      for (const Point& graph : graphs) {
        if (choice.rule != nullptr || choice.is_graph) break;
        PlanSetting setting = setting_of(step.choices, step.written, graph);
        const LogicalGraph lowered = lower(step.values, setting.variants, setting.rules);
        choice.set(setting, word);
        for (const Node& node : lowered.graph.nodes) {
          if (node.problem.op->name == choice.name) text += kernels_seen(node, setting) + '\n';
        }
      }
      if (seen[i].insert(text).second) words.back().push_back(word);
    }
  }
  return words;
}

// Calls `visit` with every point of these words.
void for_each_point(const Words& words, const std::function<void(const Point&)>& visit) {
  std::vector<std::size_t> places(words.size());
  Point point(words.size());
  for (;;) {
    for (std::size_t i = 0; i < words.size(); ++i) point[i] = words[i][places[i]];
    visit(point);
    std::size_t i = 0;
    while (i < words.size() && ++places[i] == words[i].size()) places[i++] = 0;
    if (i == words.size()) return;
  }
}

Words words_of_graphs(const std::vector<Choice>& choices) {
  Words words;
  for (const Choice& choice : choices) {
    words.emplace_back();
    for (std::size_t i = 0; i < (choice.is_graph ? choice.words.size() : 1); ++i) {
      words.back().push_back(i);
    }
  }
  return words;
}

}  // namespace

// Every combination of rules, of forms of the shuffle and its gradient, and of kernels that differ
// for a planner. The cost of a point is counted like in the search. The planner itself plans a
// sample of the points.
TEST(Remedy, NoSettingOfTheUnitCostsLess) {
  const Context context = context_in(kUnit, "stride1");
  const Remedy remedy = find_remedy(context, context.steps.front(), DType::fp32);
  EXPECT_TRUE(remedy.is_proved);
  StepSearch step(context, context.steps.front(), DType::fp32);
  std::vector<Point> graphs;
  for_each_point(words_of_graphs(step.choices), [&](const Point& p) { graphs.push_back(p); });
  const Words words = words_that_differ(step, graphs);
  PlanCost least = remedy.before;
  int plans = 0;
  for_each_point(words, [&](const Point& point) {
    const std::optional<PlanCost> cost = step.search.cost_of(point);
    if (cost) least = std::min(least, *cost);
    if (++plans % 61 != 0) return;  // 61 is prime, so all words of all choices occur
    EXPECT_EQ(cost, planned(step.values, setting_of(step.choices, step.written, point)));
  });
  EXPECT_GE(plans, 256 * 4 * 5) << "all rules, four forms of the shuffle, five of its gradient";
  EXPECT_EQ(remedy.after(), least);
}

// The cost that the search counts equals that of the planner.
TEST(Remedy, TheSearchCountsWhatThePlannerPlans) {
  std::mt19937 random(1);
  for (const auto& [file, name, dtype] :
       {std::tuple{kUnit, "stride1", DType::fp32}, std::tuple{kUnit, "stride2", DType::fp16},
        std::tuple{"shufflenet_v2_forward.yaml", "shufflenet_v2_forward", DType::fp16},
        std::tuple{"shufflenet_v2_training.yaml", "shufflenet_v2_training", DType::fp32}}) {
    const Context context = context_in(file, name);
    for (const std::size_t number : {std::size_t{0}, context.steps.size() - 1}) {
      StepSearch step(context, context.steps[number], dtype);
      for (int i = 0; i < 8; ++i) {
        Point point;
        for (const Choice& choice : step.choices) point.push_back(random() % choice.words.size());
        const auto counted = step.search.cost_of(point);
        const auto cost = planned(step.values, setting_of(step.choices, step.written, point));
        ASSERT_EQ(counted.has_value(), cost.has_value());
        if (!cost) continue;
        EXPECT_EQ(*counted, *cost) << name << " " << context.steps[number].name;
        EXPECT_EQ(counted->trans_data_bytes, cost->trans_data_bytes);
      }
    }
  }
}

// Source of 60: step 5 of the tuning record.
TEST(Remedy, TheForwardPassReachesTheTuningRecordFromItsFirstStep) {
  Context context = context_in("shufflenet_v2_forward.yaml", "shufflenet_v2_forward");
  context.steps.resize(1);
  const Remedy remedy = find_remedy(context, context.steps.front(), DType::fp16);
  EXPECT_EQ(remedy.before.trans_data, 493);
  EXPECT_LE(remedy.after().trans_data, 60);
  EXPECT_EQ(remedy.after().copies, 0);
  EXPECT_TRUE(remedy.is_proved);
  EXPECT_EQ(remedy.bound->trans_data, 56);
}

// Each step saves something; the first saves most.
TEST(Remedy, NoStepIsIdle) {
  const Context context = context_in(kUnit, "stride1");
  const ContextStep& step = context.steps.front();
  const Remedy remedy = find_remedy(context, step, DType::fp32);
  const StepSearch values(context, step, DType::fp32);
  PlanCost before = remedy.before;
  for (const RemedyStep& found : remedy.steps) {
    EXPECT_LT(found.cost, before) << changes_text(found);
    EXPECT_EQ(planned(values.values, found.setting), found.cost);
    before = found.cost;
  }
  EXPECT_FALSE(remedy.steps.empty());
}

TEST(Remedy, WhatIsAtItsBestHasNoLadder) {
  ContextBuilder builder("relu");
  builder.input("x", {1, 16, 4, 4}).node("relu", {"x"}, {"y"}).output("y");
  const Remedy remedy = find_remedy(builder.context(), builder.step(), DType::fp32);
  EXPECT_THAT(texts_of(remedy), IsEmpty());
  EXPECT_TRUE(remedy.is_proved);
  EXPECT_EQ(remedy.after().trans_data, 0);
}

// The conversion of a convolution's weight is the only one that a rule can avoid here.
TEST(Remedy, TakesTheOneRuleThatHelps) {
  ContextBuilder builder("conv");
  builder.input("x", {1, 16, 4, 4}, Format::NC1HWC0)
      .parameter("w", {16, 16, 1, 1})
      .node("conv2d", {"x", "w"}, {"y"})
      .output("y");
  const Remedy remedy = find_remedy(builder.context(), builder.step(), DType::fp16);
  EXPECT_THAT(texts_of(remedy), ElementsAre("weight_format_init: true"));
  EXPECT_EQ(remedy.before.trans_data, 1);
  EXPECT_EQ(remedy.after().trans_data, 0);
}

// The whole training step: all choices of 1,700 tasks, in seconds.
TEST(Remedy, TheTrainingStepIsProved) {
  const Context context = context_in("shufflenet_v2_training.yaml", "shufflenet_v2_training");
  const Remedy remedy = find_remedy(context, context.steps.front(), DType::fp32);
  EXPECT_TRUE(remedy.is_proved);
  EXPECT_EQ(remedy.before.trans_data, 619);
  EXPECT_EQ(remedy.after().trans_data, 161);
  EXPECT_LE(remedy.bound->trans_data, 161);
  EXPECT_LE(remedy.tasks, 20'000'000);
}

TEST(Remedy, SaysSoWhereItStopsEarly) {
  const Context context = context_in(kUnit, "stride1");
  RemedyLimits limits;
  limits.most_tasks = 1000;
  const Remedy remedy = find_remedy(context, context.steps.front(), DType::fp32, limits);
  EXPECT_FALSE(remedy.is_proved);
  EXPECT_LE(remedy.after(), remedy.before);
}

TEST(Remedy, RefusesAStepThatCannotBePlanned) {
  ContextBuilder builder("softplus");
  builder.input("x", {1, 16, 4, 4}).node("softplus", {"x"}, {"y"}, {{"beta", "2"}}).output("y");
  ContextStep step = builder.step();
  step.variants["softplus"] = {"softplus"};  // the device's does not take beta
  EXPECT_THROW(find_remedy(builder.context(), step, DType::fp32), Error);
}

}  // namespace opbench
