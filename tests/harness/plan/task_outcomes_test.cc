#include "harness/plan/task_outcomes.h"

#include <gtest/gtest.h>

#include "tests/harness/context_support.h"
#include "tests/harness/plan/remedy_support.h"

namespace opbench {
namespace {

/// Outcomes of the tasks of a convolution and two equal relus.
class TaskOutcomesTest : public testing::Test {
 protected:
  static ContextBuilder network() {
    ContextBuilder builder("conv");
    return builder.input("x", {1, 16, 4, 4}, Format::NC1HWC0)
        .parameter("w", {16, 16, 1, 1})
        .node("conv2d", {"x", "w"}, {"a"})
        .node("relu", {"a"}, {"b"})
        .node("relu", {"b"}, {"c"})
        .output("c");
  }
  const SearchGraph& graph() { return step_.search.graph_of(Point(step_.choices.size())); }
  TaskOutcomes& outcomes() { return step_.search.outcomes(); }
  int stored(Format format) {
    return outcomes().descs().of(describe(DType::fp16, {1, 16, 4, 4}, format));
  }

  ContextBuilder builder_ = network();
  StepSearch step_{builder_.context(), builder_.step(), DType::fp16};
};

}  // namespace

TEST_F(TaskOutcomesTest, TasksThatAreAlikeAreOneKind) {
  EXPECT_NE(graph().tasks[0].kind, graph().tasks[1].kind);
  EXPECT_EQ(graph().tasks[1].kind, graph().tasks[2].kind);
}

// Only weight_format_init changes the outcome of a convolution whose weight is not stored yet.
TEST_F(TaskOutcomesTest, AQuestionKeepsTheChoicesThatMatter) {
  const TaskQuestion& open =
      outcomes().ask(graph().tasks[0].kind, {stored(Format::NC1HWC0), DescNumbers::kNone});
  ASSERT_EQ(open.choices.size(), 1u);
  EXPECT_EQ(step_.choices[open.choices[0]].name, "weight_format_init");
  ASSERT_EQ(open.outcomes.size(), 2u);
  EXPECT_EQ(outcomes()[open.outcomes[0]].cost.trans_data, 1);
  EXPECT_EQ(outcomes()[open.outcomes[1]].cost.trans_data, 0);
}

TEST_F(TaskOutcomesTest, AnOutcomeFollowsFromHowInputsAreStored) {
  for (const Format format : {Format::NCHW, Format::NC1HWC0}) {
    const TaskQuestion& question = outcomes().ask(graph().tasks[1].kind, {stored(format)});
    EXPECT_TRUE(question.choices.empty());
    const TaskOutcome& outcome = outcomes()[question.outcomes.front()];
    EXPECT_TRUE(outcome.is_possible);
    EXPECT_EQ(outcome.written.front(), stored(format));
    EXPECT_EQ(outcome.cost.trans_data, 0);
  }
}

TEST_F(TaskOutcomesTest, AQuestionIsAnsweredOnce) {
  const std::vector<int> given = {stored(Format::NCHW)};
  const TaskQuestion& first = outcomes().ask(graph().tasks[1].kind, given);
  const std::size_t planned = outcomes().planned();
  EXPECT_EQ(&outcomes().ask(graph().tasks[2].kind, given), &first);
  EXPECT_EQ(outcomes().planned(), planned);
}

}  // namespace opbench
