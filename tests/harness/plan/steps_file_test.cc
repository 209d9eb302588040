#include "harness/plan/steps_file.h"

#include <gmock/gmock.h>

#include "harness/plan/case_files.h"
#include "tensor/error.h"

namespace opbench {
namespace {

using testing::HasSubstr;

constexpr const char* kText = R"(
symbols: {N: 2}
contexts:
  - name: net
    inputs: {x: [N, 16, 4, 4]}
    parameters: {w: [16, 16, 1, 1]}
    nodes: [{op: conv2d, in: [x, w], out: y}]
    outputs: [y]
    dtypes: [fp32, fp16]
    variants: {conv2d: [conv2d, depthwise_conv2d]}
    rules: {relu_grad_cast: true}
    steps:
      - {name: a, set: {N: N*2}, standard: cosine}
      - {name: b, after: a, rules: {relu_grad_cast: false, index: generated}}
  - name: other
    inputs: {x: [N]}
    nodes: [{op: relu, in: x, out: y}]
    outputs: [y]
)";

ContextRemedy remedy_from(const std::string& context, const ContextStep& step) {
  ContextRemedy found{context, DType::fp16, {}};
  found.remedy.start = step.name;
  found.remedy.written = {step.variants, step.rules};
  RemedyStep change;
  change.changes = {{"weight_format_init", "true", true}, {"conv2d", "conv2d", false}};
  change.setting = found.remedy.written;
  change.setting.rules.weight_format_init = true;
  change.setting.variants["conv2d"] = {"conv2d"};
  found.remedy.before.trans_data = 3;
  change.cost.trans_data = 1;
  found.remedy.steps.push_back(change);
  return found;
}

}  // namespace

// The file that is read has the settings of the remedy, on the graph of the step.
TEST(StepsFile, ReadsBackAsTheLadder) {
  const CaseFile file = parse_case_file(kText, "net.yaml", {});
  const ContextRemedy found = remedy_from("net", file.contexts[0].steps[1]);
  const std::string text = steps_file_text(kText, "net.yaml", {{"N", 8}}, std::vector{found});
  const CaseFile read = parse_case_file(text, "steps.yaml", {});
  ASSERT_EQ(read.contexts.size(), 1u);
  const Context& context = read.contexts[0];
  EXPECT_THAT(context.dtypes, testing::ElementsAre(DType::fp16));
  ASSERT_EQ(context.steps.size(), 2u);
  EXPECT_EQ(context.steps[0].name, "b");
  EXPECT_EQ(context.steps[0].rules, found.remedy.written.rules);
  EXPECT_EQ(context.steps[0].variants, found.remedy.written.variants);
  EXPECT_EQ(context.steps[1].name, "1.weight_format_init-conv2d.conv2d");
  EXPECT_EQ(context.steps[1].summary, "saves 2 TransData");
  EXPECT_EQ(context.steps[1].rules, found.remedy.steps[0].setting.rules);
  EXPECT_EQ(context.steps[1].variants, found.remedy.steps[0].setting.variants);
  for (const ContextStep& step : context.steps) {
    EXPECT_EQ(step.graph->inputs[0].shape, (Dims{16, 16, 4, 4})) << "N*2 of --set N=8";
    EXPECT_EQ(step.standard.kind, ContextStandard::Kind::cosine);
  }
}

TEST(StepsFile, AContextWithoutStepsGetsThem) {
  const CaseFile file = parse_case_file(kText, "net.yaml", {});
  ContextRemedy found = remedy_from("other", file.contexts[1].steps[0]);
  found.remedy.steps.clear();
  const std::string text = steps_file_text(kText, "net.yaml", {}, std::vector{found});
  const CaseFile read = parse_case_file(text, "steps.yaml", {});
  ASSERT_EQ(read.contexts[0].steps.size(), 1u);
  EXPECT_EQ(read.contexts[0].steps[0].name, "default");
}

TEST(StepsFile, RefusesATextOfSomethingElse) {
  const CaseFile file = parse_case_file(kText, "net.yaml", {});
  const std::vector found = {remedy_from("net", file.contexts[0].steps[1])};
  EXPECT_THROW(steps_file_text("contexts: []", "net.yaml", {}, found), Error);
  EXPECT_THROW(steps_file_text("contexts: [", "net.yaml", {}, found), Error);
}

}  // namespace opbench
