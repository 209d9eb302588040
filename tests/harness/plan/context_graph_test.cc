#include "harness/plan/context_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "harness/plan/precision.h"
#include "tests/harness/context_support.h"
#include "tests/harness/run/run_step.h"

namespace opbench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<std::string> result_names(const LogicalGraph& graph) {
  std::vector<std::string> names;
  for (const GraphResult& result : graph.results) names.push_back(result.name);
  return names;
}

std::vector<std::string> operators(const LogicalGraph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.graph.nodes) names.emplace_back(node.problem.op->name);
  return names;
}

// y = x * softplus(x): x is read twice, so its gradient is a sum of two terms.
ContextBuilder swish_like() {
  ContextBuilder builder("swish");
  builder.input("x", {7}).node("softplus", {"x"}, {"s"}).node("mul", {"x", "s"}, {"y"}).output("y");
  builder.context().backward = true;
  return builder;
}

TEST(ContextGraph, GradientsOfATensorReadTwiceAreAdded) {
  ContextBuilder builder = swish_like();
  const LogicalGraph graph = build_context_graph(builder.context(), builder.step(), DType::fp32);
  EXPECT_THAT(operators(graph), Contains("add"));
  EXPECT_THAT(result_names(graph), ElementsAre("y", "loss", "grad_x"));
}

// An addition passes one gradient to both: fused steps give each its own.
TEST(ContextGraph, GradientsAreNamedAfterTheirInputs) {
  ContextBuilder builder("residual");
  builder.input("x", {7}).input("r", {7}).node("add", {"x", "r"}, {"s"}).node("relu", {"s"}, {"y"});
  builder.output("y").context().backward = true;
  const LogicalGraph graph = build_context_graph(builder.context(), builder.step(), DType::fp32);
  EXPECT_THAT(result_names(graph), ElementsAre("y", "loss", "grad_x", "grad_r"));
}

// Compares with central differences of the loss in fp64: d/dx sum x*softplus(x) = softplus(x) +
// x*sigmoid(x).
TEST(ContextGraph, GradientIsThatOfTheLoss) {
  const ContextBuilder builder = swish_like();
  const auto value = [](double x) { return x * std::log1p(std::exp(x)); };
  for (const Loss loss : {Loss::sum, Loss::mean}) {
    ContextBuilder with_loss = builder;
    with_loss.context().loss = loss;
    const PlannedStep step = with_loss.plan(with_loss.step());
    const std::vector<StepResult> results = results_of(step);
    const Workspace memory(step.memory.bytes);
    memory.load(unit_variant(step), 1);
    const auto* x = static_cast<const float*>(memory.storage_of(unit_variant(step))(0));
    const std::vector<double> gradient = numbers_of(results, "grad_x");
    double sum = 0;
    for (std::size_t i = 0; i < 7; ++i) {
      constexpr double h = 1e-5;
      const double slope = (value(double(x[i]) + h) - value(double(x[i]) - h)) / (2 * h);
      EXPECT_NEAR(gradient[i], loss == Loss::sum ? slope : slope / 7, 1e-5);
      sum += value(double(x[i]));
    }
    EXPECT_NEAR(numbers_of(results, "loss")[0], loss == Loss::sum ? sum : sum / 7, 1e-4);
  }
}

// "_" before a given optional input is a tensor without elements.
TEST(ContextGraph, OptionalInputsMayBeAbsent) {
  ContextBuilder builder("finalize");
  builder.input("x", {6, 4}).input("places", {6}).input("scales", {3, 2});
  builder.node("moe_finalize_routing_v2", {"x", "places", "_", "_", "_", "scales"}, {"y"})
      .output("y");
  const LogicalGraph graph = build_context_graph(builder.context(), builder.step(), DType::bf16);
  const std::vector<TensorDesc>& inputs = graph.graph.nodes[0].problem.inputs;
  EXPECT_THAT(inputs[2].shape, ElementsAre(0));
  EXPECT_EQ(inputs[2].dtype, DType::bf16);
  EXPECT_THAT(inputs[5].shape, ElementsAre(3, 2));
}

TEST(ContextGraph, ScalarOutputIsItsOwnLoss) {
  ContextBuilder builder("loss");
  builder.input("x", {4, 3}).input("t", {4});
  builder.node("cross_entropy", {"x", "t"}, {"l"}).output("l");
  builder.context().backward = true;
  const LogicalGraph graph = build_context_graph(builder.context(), builder.step(), DType::fp32);
  EXPECT_THAT(result_names(graph), ElementsAre("l", "grad_x"));
}

TEST(ContextGraph, UpdateGoesAgainstTheGradient) {
  ContextBuilder builder("update");
  builder.input("x", {3, 4}).parameter("w", {2, 4}).parameter("b", {2});
  builder.node("linear", {"x", "w", "b"}, {"y"}).output("y");
  builder.context().backward = true;
  builder.context().update = ContextUpdate{0.5};
  const PlannedStep step = builder.plan(builder.step());
  const std::vector<StepResult> results = results_of(step);
  const Workspace memory(step.memory.bytes);
  memory.load(unit_variant(step), 1);
  const auto b = std::find_if(step.graph.tensors.begin(), step.graph.tensors.end(),
                              [](const GraphTensor& t) { return t.name == "b"; });
  const auto place = static_cast<std::size_t>(b - step.graph.tensors.begin());
  const auto* before = static_cast<const float*>(memory.storage_of(unit_variant(step))(place));
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(numbers_of(results, "grad_b")[i], 3);  // the sum has 1 for each row
    EXPECT_EQ(numbers_of(results, "updated_b")[i], before[i] - 1.5F);
  }
}

ContextBuilder conv_bn_relu() {
  ContextBuilder builder("mixed");
  builder.input("x", {2, 16, 4, 4})
      .parameter("w", {16, 16, 1, 1})
      .parameter("gamma", {16})
      .parameter("beta", {16})
      .parameter("mean", {16})
      .parameter("var", {16})
      .node("conv2d", {"x", "w"}, {"c"})
      .node("batch_norm", {"c", "gamma", "beta", "mean", "var"}, {"b"})
      .node("relu", {"b"}, {"y"})
      .output("y");
  return builder;
}

std::vector<DType> dtypes_of_nodes(const LogicalGraph& graph) {
  std::vector<DType> dtypes;
  for (const Node& node : graph.graph.nodes) {
    if (node.problem.op->name != "cast") dtypes.push_back(node.problem.inputs[0].dtype);
  }
  return dtypes;
}

TEST(ContextGraph, LevelsOfMixedPrecision) {
  const ContextBuilder builder = conv_bn_relu();
  ContextStep step = builder.step();
  const auto dtypes = [&](Precision::Level level) {
    step.precision.level = level;
    ContextBuilder copy = builder;
    return dtypes_of_nodes(build_context_graph(copy.context(), step, DType::fp32));
  };
  const DType full = DType::fp32, half = DType::fp16;
  EXPECT_EQ(dtypes(Precision::Level::O0), (std::vector<DType>{full, full, full}));
  EXPECT_EQ(dtypes(Precision::Level::O1), (std::vector<DType>{half, full, full}));
  EXPECT_EQ(dtypes(Precision::Level::O2), (std::vector<DType>{half, half, half}));
}

// The seed is the scale, and the gradients are divided by it.
TEST(ContextGraph, LossScaleCancels) {
  ContextBuilder builder = conv_bn_relu();
  builder.context().backward = true;
  ContextStep step = builder.step();
  step.precision.level = Precision::Level::O2;
  const std::vector<StepResult> plain = results_of(builder.plan(step));
  step.precision.scaling = Precision::Scaling::fixed;
  step.precision.loss_scale = 64;
  const std::vector<StepResult> scaled = results_of(builder.plan(step));
  EXPECT_EQ(numbers_of(scaled, std::string(kOverflowFlag))[0], 0);
  const std::vector<double> a = numbers_of(plain, "grad_gamma");
  const std::vector<double> b = numbers_of(scaled, "grad_gamma");
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(a[i], b[i], 2e-3 * std::fabs(a[i]) + 1e-2);
  }
}

TEST(ContextGraph, OverflowSkipsTheUpdate) {
  ContextBuilder builder("overflow");
  builder.input("x", {64, 16}).parameter("w", {16, 16});
  builder.node("matmul", {"x", "w"}, {"y"}).output("y");
  builder.context().backward = true;
  builder.context().update = ContextUpdate{0.5};
  ContextStep step = builder.step();
  step.precision = {
      Precision::Level::O1, Precision::Scaling::fixed, 65504, Precision::Half::ieee, {}};
  const PlannedStep planned = builder.plan(step);
  const std::vector<StepResult> results = results_of(planned);
  EXPECT_EQ(numbers_of(results, std::string(kOverflowFlag))[0], 1);
  // In saturate mode the largest finite value shows the overflow.
  step.precision.half = Precision::Half::saturate;
  EXPECT_EQ(numbers_of(results_of(builder.plan(step)), std::string(kOverflowFlag))[0], 1);
}

// A file may use this name for a tensor of its own.
TEST(ContextGraph, AnOutputCalledOverflowIsNotTheFlag) {
  ContextBuilder builder("overflow");
  builder.input("x", {4, 16}).parameter("w", {16, 16});
  builder.node("matmul", {"x", "w"}, {"overflow"}).output("overflow");
  builder.context().backward = true;
  ContextStep step = builder.step();
  step.precision = {Precision::Level::O1, Precision::Scaling::fixed, 2, Precision::Half::ieee, {}};
  const std::vector<StepResult> results = results_of(builder.plan(step));
  EXPECT_EQ(numbers_of(results, "overflow").size(), 64U);
  EXPECT_EQ(numbers_of(results, std::string(kOverflowFlag))[0], 0);
}

TEST(ContextGraph, AFormatThatDoesNotFitIsRefusedWithItsPlace) {
  ContextBuilder builder("bad");
  builder.input("x", {7}, Format::FRACTAL_Z_3D).node("relu", {"x"}, {"y"}).output("y");
  ContextStep step = builder.step();
  auto graph = std::make_shared<ContextGraph>(*step.graph);
  graph->inputs[0].origin = "net.yaml:4";
  step.graph = graph;
  EXPECT_THAT([&] { builder.plan(step); },
              ThrowsMessage<Error>(HasSubstr("net.yaml:4: FRACTAL_Z_3D needs 5 extents")));
}

// Two tensors of nearly 2^63 bytes each: their sum exceeds 64 bits.
TEST(ContextGraph, TensorsBeyondTheAddressSpaceAreRefused) {
  ContextBuilder builder("huge");
  builder.input("x", {(std::int64_t{1} << 61) - 1}).node("relu", {"x"}, {"y"}).output("y");
  EXPECT_THAT([&] { builder.plan(builder.step()); },
              ThrowsMessage<Error>(HasSubstr("more than 2^60 bytes")));
}

TEST(ContextGraph, ErrorsNameThePlaceInTheFile) {
  ContextBuilder builder("bad");
  builder.input("x", {2, 3}).input("z", {2, 4}).node("add", {"x", "z"}, {"y"}).output("y");
  ContextStep step = builder.step();
  auto graph = std::make_shared<ContextGraph>(*step.graph);
  graph->nodes[0].origin = "net.yaml:7";
  step.graph = graph;
  EXPECT_THAT([&] { builder.plan(step); }, ThrowsMessage<Error>(HasSubstr("net.yaml:7: add:")));
}

TEST(ContextGraph, WithoutAGradientThereIsNoBackwardPass) {
  ContextBuilder builder("bad");
  builder.input("x", {8}).node("sort", {"x"}, {"y", "i"}).output("y");
  builder.context().backward = true;
  EXPECT_THAT([&] { builder.plan(builder.step()); },
              ThrowsMessage<Error>(HasSubstr("sort has no gradient")));
}

}  // namespace
}  // namespace opbench
