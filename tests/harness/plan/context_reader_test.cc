#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include "harness/plan/case_files.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::Pair;

CaseFile parse_contexts(const std::string& text, const Symbols& set = {}) {
  return parse_case_file(text, "f.yaml", set);
}

/// The node as "conv1.relu: relu(b) -> y".
std::string text_of(const ContextNode& node) {
  return fmt::format("{}: {}({}) -> {}", node.name, node.op->name, fmt::join(node.inputs, ", "),
                     fmt::join(node.outputs, ", "));
}

std::vector<std::string> nodes_of(const ContextGraph& graph) {
  std::vector<std::string> texts;
  for (const ContextNode& node : graph.nodes) texts.push_back(text_of(node));
  return texts;
}

const ContextGraph& only_graph(const CaseFile& file) {
  return *file.contexts.at(0).steps.at(0).graph;
}

/// The nodes of the first step of the only context.
std::vector<std::string> expanded(const std::string& text) {
  return nodes_of(only_graph(parse_contexts(text)));
}

/// The tensors as "w=24x3x3x3".
std::vector<std::string> tensors_of(const std::vector<ContextTensor>& tensors) {
  std::vector<std::string> texts;
  for (const ContextTensor& tensor : tensors) {
    texts.push_back(fmt::format("{}={}", tensor.name, fmt::join(tensor.shape, "x")));
  }
  return texts;
}

constexpr const char* kRelu =
    "contexts:\n"
    "  - name: c\n"
    "    inputs: {x: [2]}\n"
    "    nodes: [{op: relu, in: x, out: y}]\n"
    "    outputs: [y]\n";

TEST(ContextReader, LeavesOutWhatHasDefaults) {
  const CaseFile file = parse_contexts(kRelu);
  ASSERT_EQ(file.contexts.size(), 1u);
  const Context& context = file.contexts[0];
  EXPECT_EQ(context.name, "c");
  EXPECT_EQ(context.origin, "f.yaml:2");
  EXPECT_THAT(context.dtypes, ElementsAre(DType::fp32));
  EXPECT_FALSE(context.backward);
  EXPECT_EQ(context.loss, Loss::sum);
  EXPECT_FALSE(context.update.has_value());
  EXPECT_FALSE(context.seed.has_value());
  EXPECT_EQ(context.symbols, "");
  ASSERT_EQ(context.steps.size(), 1u);
  const ContextStep& step = context.steps[0];
  EXPECT_EQ(step.name, "default");
  EXPECT_EQ(step.after, -1);
  EXPECT_EQ(step.samples, 1);
  EXPECT_EQ(step.standard.kind, ContextStandard::Kind::mixed);
  EXPECT_EQ(step.precision.level, Precision::Level::O0);
  EXPECT_EQ(step.precision.scaling, Precision::Scaling::none);
  EXPECT_THAT(nodes_of(*step.graph), ElementsAre("relu: relu(x) -> y"));
  EXPECT_THAT(step.graph->outputs, ElementsAre("y"));
  EXPECT_EQ(step.graph->nodes[0].origin, "f.yaml:4");
}

TEST(ContextReader, ReadsEveryKey) {
  const CaseFile file = parse_contexts(
      "symbols: {N: 8, C: 3}\n"
      "dtypes: [fp16]\n"
      "contexts:\n"
      "  - name: net\n"
      "    dtypes: [fp32, bf16]\n"
      "    inputs: {x: {shape: [N, C, 224, 224], format: NC1HWC0, dtype: fp16, data: "
      "\"normal(0,2)\"}}\n"
      "    parameters: {w: [C*8, C, 3, 3]}\n"
      "    nodes:\n"
      "      - {op: conv2d, in: [x, w], out: y, attrs: {stride: 2, padding: [1, 1]}}\n"
      "    outputs: [y]\n"
      "    backward: true\n"
      "    loss: mean\n"
      "    update: {rate: 0.01}\n"
      "    seed: 7\n"
      "    samples: N\n"
      "    standard: cosine=0.995\n"
      "    variants: {conv2d: [depthwise_conv2d, conv2d], relu: native, mean: reference}\n"
      "    rules: {concat_output_nchw: true, axpy_equal_shapes: true, relu_grad_cast: true,\n"
      "            dwconv_output_5hd: true, weight_format_init: true, grad_cast_once: true,\n"
      "            allow_fp32_to_fp16: false, contiguous: gather_v2, index: generated}\n"
      "    precision: {level: O2, loss_scale: dynamic, half: saturate}\n",
      {{"N", 4}});
  const Context& context = file.contexts.at(0);
  EXPECT_THAT(context.dtypes, ElementsAre(DType::fp32, DType::bf16));
  EXPECT_TRUE(context.backward);
  EXPECT_EQ(context.loss, Loss::mean);
  EXPECT_DOUBLE_EQ(context.update->rate, 0.01);
  EXPECT_EQ(context.seed, 7u);
  EXPECT_EQ(context.symbols, "C=3,N=4");
  const ContextStep& step = context.steps.at(0);
  EXPECT_EQ(step.samples, 4);
  EXPECT_EQ(step.standard.kind, ContextStandard::Kind::cosine);
  EXPECT_DOUBLE_EQ(step.standard.limit, 0.995);
  EXPECT_THAT(step.variants, ElementsAre(Pair("conv2d", ElementsAre("depthwise_conv2d", "conv2d")),
                                         Pair("mean", ElementsAre("reference")),
                                         Pair("relu", ElementsAre("native"))));
  const FrameworkRules& rules = step.rules;
  EXPECT_TRUE(rules.concat_output_nchw && rules.axpy_equal_shapes && rules.relu_grad_cast &&
              rules.dwconv_output_5hd && rules.weight_format_init && rules.grad_cast_once);
  EXPECT_FALSE(rules.allow_fp32_to_fp16);
  EXPECT_EQ(rules.contiguous, FrameworkRules::Contiguous::gather_v2);
  EXPECT_EQ(rules.index, FrameworkRules::Index::generated);
  EXPECT_EQ(step.precision.level, Precision::Level::O2);
  EXPECT_EQ(step.precision.scaling, Precision::Scaling::dynamic);
  EXPECT_DOUBLE_EQ(step.precision.loss_scale, 65536);
  EXPECT_EQ(step.precision.half, Precision::Half::saturate);
  ASSERT_THAT(tensors_of(step.graph->inputs), ElementsAre("x=4x3x224x224"));
  EXPECT_EQ(step.graph->inputs[0].format, Format::NC1HWC0);
  EXPECT_EQ(step.graph->inputs[0].dtype, DType::fp16);
  EXPECT_EQ(to_string(step.graph->inputs[0].data.value()), "normal(0,2)");
  EXPECT_EQ(step.graph->inputs[0].origin, "f.yaml:6");
  EXPECT_THAT(tensors_of(step.graph->parameters), ElementsAre("w=24x3x3x3"));
  EXPECT_THAT(step.graph->nodes[0].attrs.list("stride"), ElementsAre(2));
  EXPECT_THAT(step.graph->nodes[0].attrs.list("padding"), ElementsAre(1, 1));
}

TEST(ContextReader, TakesTheFilesDtypes) {
  EXPECT_THAT(parse_contexts(std::string(kRelu) + "dtypes: [fp16, bf16]\n").contexts[0].dtypes,
              ElementsAre(DType::fp16, DType::bf16));
}

TEST(ContextReader, NodesComeInTheOrderOfExecution) {
  EXPECT_THAT(expanded("contexts:\n"
                       "  - name: c\n"
                       "    inputs: {x: [2]}\n"
                       "    nodes:\n"
                       "      - {op: relu, in: d, out: y}\n"
                       "      - {op: add, in: [b, a], out: d}\n"
                       "      - {op: relu, in: x, out: a, name: relu1}\n"
                       "      - {op: relu, in: x, out: b}\n"
                       "    outputs: [y]\n"),
              ElementsAre("relu1: relu(x) -> a", "relu2: relu(x) -> b", "add: add(b, a) -> d",
                          "relu: relu(d) -> y"));
}

constexpr const char* kConvBlock =
    "symbols: {N: 8}\n"
    "blocks:\n"
    "  conv_bn_relu:\n"
    "    symbols: {C: required, M: required, K: 1, S: 1, P: 0, G: 1}\n"
    "    inputs: [x]\n"
    "    parameters: {weight: {shape: [M, C/G, K, K]}, gamma: [M], beta: [M], mean: [M], var: "
    "[M]}\n"
    "    nodes:\n"
    "      - {name: conv, op: conv2d, in: [x, weight], out: c, attrs: {stride: S, padding: [P, P], "
    "groups: G}}\n"
    "      - {op: batch_norm, in: [c, gamma, beta, mean, var], out: [b, _]}\n"
    "      - {op: relu, in: b, out: y}\n"
    "    outputs: [y]\n";

TEST(ContextReader, IncludesBlocksUnderTheirNames) {
  const CaseFile file = parse_contexts(
      std::string(kConvBlock) +
      "contexts:\n"
      "  - name: net\n"
      "    inputs: {x: [N, 3, 224, 224]}\n"
      "    nodes:\n"
      "      - {include: conv_bn_relu, name: conv1, with: {C: 3, M: 24, K: 3, S: 2, P: 1}, in: x, "
      "out: a}\n"
      "      - {include: conv_bn_relu, name: dw, with: {C: 24, M: N*3, G: 24}, in: [a], out: [y]}\n"
      "    outputs: [y]\n");
  const ContextGraph& graph = only_graph(file);
  EXPECT_THAT(
      nodes_of(graph),
      ElementsAre("conv1.conv: conv2d(x, conv1.weight) -> conv1.c",
                  "conv1.batch_norm: batch_norm(conv1.c, conv1.gamma, conv1.beta, conv1.mean, "
                  "conv1.var) -> conv1.b, _",
                  "conv1.relu: relu(conv1.b) -> a", "dw.conv: conv2d(a, dw.weight) -> dw.c",
                  "dw.batch_norm: batch_norm(dw.c, dw.gamma, dw.beta, dw.mean, dw.var) -> dw.b, _",
                  "dw.relu: relu(dw.b) -> y"));
  EXPECT_THAT(tensors_of(graph.parameters),
              ElementsAre("conv1.weight=24x3x3x3", "conv1.gamma=24", "conv1.beta=24",
                          "conv1.mean=24", "conv1.var=24", "dw.weight=24x1x1x1", "dw.gamma=24",
                          "dw.beta=24", "dw.mean=24", "dw.var=24"));
  EXPECT_THAT(graph.nodes[0].attrs.list("stride"), ElementsAre(2));
  EXPECT_THAT(graph.nodes[0].attrs.list("padding"), ElementsAre(1, 1));
  EXPECT_EQ(graph.nodes[3].attrs.integer("groups"), 24);
  EXPECT_EQ(graph.nodes[3].origin, "f.yaml:8");
  EXPECT_EQ(graph.parameters[5].origin, "f.yaml:6");
}

TEST(ContextReader, RepetitionsFeedEachOther) {
  EXPECT_THAT(expanded("blocks:\n"
                       "  inner:\n"
                       "    inputs: a\n"
                       "    nodes: [{op: relu, in: a, out: b}]\n"
                       "    outputs: b\n"
                       "  unit:\n"
                       "    inputs: [left, right]\n"
                       "    nodes:\n"
                       "      - {op: add, in: [left, right], out: sum}\n"
                       "      - {include: inner, name: branch2, in: sum, out: out2}\n"
                       "    outputs: [out2, left]\n"
                       "contexts:\n"
                       "  - name: net\n"
                       "    inputs: {x1: [2], x2: [2]}\n"
                       "    nodes:\n"
                       "      - {include: unit, name: stage2, repeat: 3, first: 1, in: [x1, x2], "
                       "out: [y1, y2]}\n"
                       "      - {op: mul, in: [y1, y2], out: z}\n"
                       "    outputs: [z]\n"),
              ElementsAre("stage2.1.add: add(x1, x2) -> stage2.1.sum",
                          "stage2.1.branch2.relu: relu(stage2.1.sum) -> stage2.1.out2",
                          "stage2.2.add: add(stage2.1.out2, x1) -> stage2.2.sum",
                          "stage2.2.branch2.relu: relu(stage2.2.sum) -> stage2.2.out2",
                          "stage2.3.add: add(stage2.2.out2, stage2.1.out2) -> stage2.3.sum",
                          "stage2.3.branch2.relu: relu(stage2.3.sum) -> y1",
                          // y2 is an output that the last repetition passes through
                          "mul: mul(y1, stage2.2.out2) -> z"));
}

TEST(ContextReader, ARepetitionOfOneHasANumber) {
  const auto with = [](const std::string& repeat) {
    return expanded(
        "symbols: {R: 2}\n"
        "blocks: {b: {inputs: a, nodes: [{op: relu, in: a, out: b}], outputs: b}}\n"
        "contexts: [{name: c, inputs: {x: [2]}, outputs: y, nodes: [{include: b, name: "
        "n, in: x, out: y" +
        repeat + "}]}]\n");
  };
  EXPECT_THAT(with(""), ElementsAre("n.relu: relu(x) -> y"));
  EXPECT_THAT(with(", repeat: 1"), ElementsAre("n.0.relu: relu(x) -> y"));
  EXPECT_THAT(with(", repeat: R/2, first: 5"), ElementsAre("n.5.relu: relu(x) -> y"));
}

TEST(ContextReader, AResultMayHaveTwoNames) {
  const CaseFile file = parse_contexts(
      "blocks:\n"
      "  both: {inputs: a, nodes: [{op: relu, in: a, out: b}], outputs: [b, b]}\n"
      "contexts:\n"
      "  - name: c\n"
      "    inputs: {x: [2]}\n"
      "    nodes:\n"
      "      - {include: both, name: n, in: x, out: [p, q]}\n"
      "      - {op: add, in: [p, q], out: y}\n"
      "    outputs: [y, q]\n");
  EXPECT_THAT(nodes_of(only_graph(file)),
              ElementsAre("n.relu: relu(x) -> p", "add: add(p, p) -> y"));
  EXPECT_THAT(only_graph(file).outputs, ElementsAre("y", "p"));
}

TEST(ContextReader, AttributesMayHaveSymbols) {
  const CaseFile file = parse_contexts(
      "symbols: {C: 4, S: 2}\n"
      "contexts:\n"
      "  - name: c\n"
      "    inputs: {x: [2, C*3, 6, 6]}\n"
      "    nodes:\n"
      "      - {op: contiguous, in: x, out: a, attrs: {view: "
      "\"slice(1,0,{C}).slice(2,0,{C/S})\"}}\n"
      "      - {op: transpose, in: a, out: t, attrs: {perm: [0, S, 1, 3]}}\n"
      "      - {op: split, in: t, out: [y0, y1, y2], attrs: {sizes: [S, C/4, 1]}}\n"
      "    outputs: [y0, y1, y2]\n");
  const ContextGraph& graph = only_graph(file);
  EXPECT_EQ(graph.nodes[0].attrs.word("view"), "slice(1,0,4).slice(2,0,2)");
  EXPECT_THAT(graph.nodes[1].attrs.list("perm"), ElementsAre(0, 2, 1, 3));
  EXPECT_THAT(graph.nodes[2].attrs.list("sizes"), ElementsAre(2, 1, 1));
}

TEST(ContextReader, ConstantsAndDataWithSymbols) {
  const CaseFile file = parse_contexts(
      "symbols: {N: 3}\n"
      "contexts:\n"
      "  - name: c\n"
      "    inputs: {x: [2], y: {shape: [2], data: \"uniform(0,{N*2})\", gradient: false}}\n"
      "    nodes: [{op: mul, in: [x, y], out: z}]\n"
      "    outputs: [z]\n");
  const std::vector<ContextTensor>& inputs = only_graph(file).inputs;
  EXPECT_TRUE(inputs[0].takes_gradient);
  EXPECT_FALSE(inputs[0].data.has_value());
  EXPECT_FALSE(inputs[1].takes_gradient);
  EXPECT_EQ(inputs[1].data->b, 6);
}

TEST(ContextReader, StepsTakeOverTheSettingsOfOthers) {
  const CaseFile file = parse_contexts(
      std::string(kRelu) +
      "    variants: {relu: native, add: [native]}\n"
      "    rules: {grad_cast_once: true}\n"
      "    steps:\n"
      "      - {name: first, summary: \"as it was\"}\n"
      "      - {name: half, precision: O1, variants: {add: reference}}\n"
      "      - {name: streams, not_applicable: \"a device only\"}\n"
      "      - {name: index, rules: {index: generated}, standard: cosine}\n"
      "      - {name: both, after: half, variants: {relu: relu}, standard: prec=1e-4}\n"
      "      - {name: late, after: streams, samples: 3}\n");
  const std::vector<ContextStep>& steps = file.contexts[0].steps;
  ASSERT_EQ(steps.size(), 6u);
  std::vector<int> after;
  for (const ContextStep& step : steps) after.push_back(step.after);
  EXPECT_THAT(after, ElementsAre(-1, 0, 1, 1, 1, 1));
  EXPECT_EQ(steps[0].summary, "as it was");
  EXPECT_EQ(steps[2].not_applicable, "a device only");
  EXPECT_EQ(steps[3].origin, "f.yaml:12");
  // Without `after`, a step starts from the context.
  EXPECT_EQ(steps[3].precision.level, Precision::Level::O0);
  EXPECT_EQ(steps[3].rules.index, FrameworkRules::Index::generated);
  EXPECT_TRUE(steps[3].rules.grad_cast_once);
  EXPECT_DOUBLE_EQ(steps[3].standard.limit, 0.99);
  EXPECT_EQ(steps[4].precision.level, Precision::Level::O1);
  EXPECT_THAT(steps[4].variants, ElementsAre(Pair("add", ElementsAre("reference")),
                                             Pair("relu", ElementsAre("relu"))));
  EXPECT_EQ(steps[4].standard.kind, ContextStandard::Kind::prec);
  EXPECT_DOUBLE_EQ(steps[4].standard.limit, 1e-4);
  EXPECT_EQ(steps[5].samples, 3);
  for (const ContextStep& step : steps) EXPECT_EQ(step.graph, steps[0].graph) << step.name;
}

TEST(ContextReader, StepsSetSymbolsAndReplaceBlocks) {
  const CaseFile file = parse_contexts(
      "symbols: {N: 8}\n"
      "blocks:\n"
      "  plain: {inputs: a, nodes: [{op: relu, in: a, out: b}], outputs: b}\n"
      "  twice: {inputs: u, nodes: [{op: add, in: [u, u], out: v}], outputs: v}\n"
      "contexts:\n"
      "  - name: c\n"
      "    inputs: {x: [N]}\n"
      "    nodes: [{include: plain, name: n, in: x, out: y}]\n"
      "    outputs: [y]\n"
      "    samples: N\n"
      "    steps:\n"
      "      - {name: one}\n"
      "      - {name: large, set: {N: N*2}}\n"
      "      - {name: other, after: large, blocks: {plain: twice}}\n"
      "      - {name: again, set: {N: 12}}\n"
      "      - {name: back, after: large, set: {N: N}}\n",
      {{"N", 6}});
  const std::vector<ContextStep>& steps = file.contexts[0].steps;
  ASSERT_EQ(steps.size(), 5u);
  std::vector<std::int64_t> samples;
  for (const ContextStep& step : steps) {
    samples.push_back(step.samples);
    EXPECT_THAT(step.graph->inputs.at(0).shape, ElementsAre(step.samples)) << step.name;
  }
  EXPECT_THAT(samples, ElementsAre(6, 12, 12, 12, 6));
  EXPECT_THAT(nodes_of(*steps[1].graph), ElementsAre("n.relu: relu(x) -> y"));
  EXPECT_THAT(nodes_of(*steps[2].graph), ElementsAre("n.add: add(x, x) -> y"));
  EXPECT_EQ(steps[1].graph, steps[3].graph);
  EXPECT_EQ(steps[0].graph, steps[4].graph);
  EXPECT_NE(steps[0].graph, steps[1].graph);
  EXPECT_EQ(file.contexts[0].symbols, "N=6");
}

TEST(ContextReader, ScalesAreFixedOrDynamic) {
  const auto precision = [](const std::string& text) {
    return parse_contexts(std::string(kRelu) + "    precision: " + text + "\n")
        .contexts[0]
        .steps[0]
        .precision;
  };
  EXPECT_EQ(precision("O1").level, Precision::Level::O1);
  EXPECT_EQ(precision("{level: O2, loss_scale: 128}").scaling, Precision::Scaling::fixed);
  EXPECT_DOUBLE_EQ(precision("{level: O2, loss_scale: 128}").loss_scale, 128);
  EXPECT_EQ(precision("{level: O2, initial_scale: 32, loss_scale: dynamic}").scaling,
            Precision::Scaling::dynamic);
  EXPECT_DOUBLE_EQ(precision("{initial_scale: 32, loss_scale: dynamic}").loss_scale, 32);
  EXPECT_THAT(precision("{level: O2, keep_fp32: [softmax]}").keep_fp32, ElementsAre("softmax"));
  EXPECT_EQ(precision("{half: saturate}").half, Precision::Half::saturate);
}

/// A chain of `nodes` nodes, without repetitions.
std::string chain_text(int nodes) {
  std::string text = "contexts:\n  - name: c\n    inputs: {t0: [2]}\n    nodes:\n";
  for (int i = 0; i < nodes; ++i) {
    text += fmt::format("      - {{op: relu, in: t{}, out: t{}}}\n", i, i + 1);
  }
  return text + fmt::format("    outputs: [t{}]\n", nodes);
}

TEST(ContextReader, ReadsTenThousandNodes) {
  const CaseFile file = parse_contexts(chain_text(10000));
  ASSERT_EQ(only_graph(file).nodes.size(), 10000u);
  EXPECT_EQ(text_of(only_graph(file).nodes[9999]), "relu9999: relu(t9999) -> t10000");
}

}  // namespace
}  // namespace opbench
