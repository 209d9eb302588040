#include "harness/plan/choices.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/harness/context_support.h"
#include "tests/harness/plan/remedy_support.h"

namespace opbench {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Not;

ContextBuilder shuffle() {
  ContextBuilder builder("shuffle");
  builder.input("a", {1, 16, 4, 4})
      .input("b", {1, 16, 4, 4})
      .node("cat_shuffle_split", {"a", "b"}, {"c", "d"})
      .output("c")
      .output("d");
  return builder;
}

std::vector<Choice> choices_for(ContextBuilder builder, const PlanSetting& written) {
  return choices_of(build_context_graph(builder.context(), builder.step(), DType::fp32), written);
}

const Choice* find(const std::vector<Choice>& choices, const std::string& name) {
  const auto found = std::find_if(choices.begin(), choices.end(),
                                  [&](const Choice& choice) { return choice.name == name; });
  return found == choices.end() ? nullptr : &*found;
}

}  // namespace

TEST(Choices, BeginWithWhatIsWritten) {
  PlanSetting written;
  written.rules.relu_grad_cast = true;
  written.variants["cat_shuffle_split"] = {"full"};
  const auto choices = choices_for(shuffle(), written);
  EXPECT_THAT(find(choices, "relu_grad_cast")->words, ElementsAre("true", "false"));
  EXPECT_THAT(find(choices, "index")->words, ElementsAre("cached", "generated"));
  EXPECT_THAT(find(choices, "cat_shuffle_split")->words, ElementsAre("full", "half", "fused"));
}

// Excluded: rules that change results, kernels of the framework and other libraries, and
// conversions.
TEST(Choices, LeaveTheResultAndTheDevice) {
  const auto choices = choices_for(shuffle(), {});
  EXPECT_EQ(find(choices, "allow_fp32_to_fp16"), nullptr);
  EXPECT_EQ(find(choices, "trans_data"), nullptr);
  EXPECT_EQ(find(choices, "cast"), nullptr);
  for (const Choice& choice : choices) {
    if (choice.rule != nullptr) continue;
    EXPECT_THAT(choice.words, AllOf(Not(Contains("native")), Not(Contains("onednn")),
                                    Not(Contains("reference"))));
  }
}

// The operators of an expanded form are included.
TEST(Choices, IncludeWhatFormsAreMadeOf) {
  const auto choices = choices_for(shuffle(), {});
  ASSERT_NE(find(choices, "index_select"), nullptr);
  EXPECT_THAT(find(choices, "index_select")->words, Contains("gather_v3"));
  EXPECT_TRUE(find(choices, "cat_shuffle_split")->is_graph);
  EXPECT_FALSE(find(choices, "index_select")->is_graph);
}

TEST(Choices, APointIsASetting) {
  PlanSetting written;
  written.variants["relu"] = {"native"};
  const auto choices = choices_for(shuffle(), written);
  Point point(choices.size());
  EXPECT_EQ(changes_of(point), 0u);
  EXPECT_EQ(setting_of(choices, written, point).rules, written.rules);
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (choices[i].name == "cat_shuffle_split") point[i] = 2;
    if (choices[i].name == "weight_format_init") point[i] = 1;
  }
  const PlanSetting setting = setting_of(choices, written, point);
  EXPECT_EQ(changes_of(point), 2u);
  EXPECT_TRUE(setting.rules.weight_format_init);
  EXPECT_THAT(setting.variants.at("cat_shuffle_split"), ElementsAre("half"));
  EXPECT_THAT(setting.variants.at("relu"), ElementsAre("native"));
}

}  // namespace opbench
