#include "harness/plan/graph.h"

#include <gmock/gmock.h>

#include "harness/plan/case_graph.h"
#include "harness/plan/selected_kernels.h"
#include "harness/run/workspace.h"
#include "tensor/error.h"
#include "tests/evaluate.h"

namespace opbench {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Graph, OneOperatorIsOneNode) {
  const Graph graph = build_graph(parse_case_id("softplus[2x3x4x5,fp32]"));
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.tensors[0].role, GraphTensor::input);
  EXPECT_EQ(graph.tensors[1].role, GraphTensor::output);
  EXPECT_EQ(graph.memory_bytes(), 2u * 2 * 3 * 4 * 5 * 4);
}

TEST(Graph, BackwardIsMeanAndTheGradients) {
  const Graph graph = build_graph(parse_case_id("softplus[2x20x3x3,fp16,NC1HWC0,backward]"));
  std::vector<std::string_view> ops;
  for (const Node& node : graph.nodes) ops.push_back(node.problem.op->name);
  EXPECT_THAT(ops, testing::ElementsAre("softplus", "mean", "mean_grad", "softplus_grad"));
  std::vector<std::string> outputs;
  for (const GraphTensor& tensor : graph.tensors) {
    if (tensor.role == GraphTensor::output) outputs.push_back(tensor.name);
  }
  EXPECT_THAT(outputs, testing::ElementsAre("loss", "grad_self"));
  // softplus reads and writes the tensor, mean reads it, mean_grad writes it, softplus_grad reads
  // two and writes one.
  const double tensor = 2 * 2 * 3 * 3 * 16 * 2;
  EXPECT_EQ(graph.traffic().bytes(), 7 * tensor + 2 * 2);
}

// An index, a mask and the places of maxima only move a constant gradient, so every kernel would
// pass.
TEST(Graph, BackwardOfMovedDataIsFromRandomGradients) {
  for (const char* id :
       {"max_pool2d[1x2x4x4,fp32,NCHW,kernel_size=[2],stride=[2],backward]",
        "index_select[8x4,3,fp32,ND,axis=0,backward]", "embedding[8x4,3,fp32,ND,backward]",
        "where[8x4,8x4,8x4,fp32,ND,backward]", "masked_fill[8x4,8x4,fp32,ND,backward]"}) {
    const Graph graph = build_graph(parse_case_id(id));
    for (const Node& node : graph.nodes) EXPECT_NE(node.problem.op->name, "mean") << id;
    EXPECT_GT(graph.nodes.size(), 1u) << id;
  }
}

// The mean's gradient through a sum is a constant, which would test nothing.
TEST(Graph, GradientsOfWhatWasBroadcastAreAddedUp) {
  const Graph graph = build_graph(parse_case_id("mul[4x1x7,5x1:fp16,fp32,ND,backward]"));
  std::vector<std::string_view> ops;
  for (const Node& node : graph.nodes) ops.push_back(node.problem.op->name);
  EXPECT_THAT(ops, testing::ElementsAre("mul", "mul", "sum_to_size", "mul", "sum_to_size", "cast"));
  const Node &of_x1 = graph.nodes[2], &of_x2 = graph.nodes[5];
  EXPECT_EQ(of_x1.problem.outputs[0].shape, (Dims{4, 1, 7}));
  EXPECT_EQ(graph.tensors[of_x1.outputs[0]].name, "grad_x1");
  EXPECT_EQ(of_x2.problem.outputs[0], describe(DType::fp16, {5, 1}));
  EXPECT_EQ(graph.tensors[of_x2.outputs[0]].name, "grad_x2");
}

// Fractal formats have no mean, so the pass starts from gradients of the results.
TEST(Graph, BackwardInFractalsHasKernels) {
  const std::pair<const char*, const char*> uses[] = {
      {"add[58x24x3x3,58x24x3x3,fp16,FRACTAL_Z,backward]", "add"},
      {"mul[58x24x3x3,58x24x3x3,fp16,FRACTAL_Z,backward]", "mul"},
      {"mul[33x17,33x17,fp16,FRACTAL_NZ,backward]", "native"},
      {"axpy[33x17,33x17,fp16,FRACTAL_NZ,backward]", "axpy"},
      {"relu[58x24x3x3,fp32,FRACTAL_Z,backward]", "relu"},
      {"relu[33x17,fp32,FRACTAL_NZ,backward]", "native"},
      {"cast[58x24x3x3,fp32,FRACTAL_Z,to=fp16,backward]", "cast"},
      {"matmul[33x17,17x20,fp16,FRACTAL_NZ,backward]", "mat_mul_v2"},
      {"linear[33x17,20x17,20,fp16,FRACTAL_NZ,backward]", "mat_mul_v2"}};
  for (const auto& [id, variant] : uses) {
    const Case c = parse_case_id(id);
    EXPECT_EQ(select_kernels(build_graph(c), find_kernel(c.op->name, variant)).refusal, "") << id;
  }
}

TEST(Graph, ReluDifferentiatesAtItsOutput) {
  const Graph graph = build_graph(parse_case_id("relu[8,fp32,backward]"));
  const Node& grad = graph.nodes.back();
  EXPECT_EQ(grad.problem.op->name, "relu_grad");
  EXPECT_EQ(grad.inputs[1], graph.nodes[0].outputs[0]);
}

TEST(Graph, WithoutGradientThereIsNoBackward) {
  EXPECT_THAT([] { build_graph(parse_case_id("softplus_grad[8,8,fp32,backward]")); },
              ThrowsMessage<Error>(HasSubstr("softplus_grad has no gradient")));
}

TEST(Graph, VariantsBringTheirFamily) {
  const Graph graph = build_graph(parse_case_id("softplus[8,fp32,backward]"));
  EXPECT_EQ(select_kernels(graph, find_kernel("softplus", "softplus_v2")).kernel_names(),
            "softplus_v2+reduce_mean+native+softplus_v2_grad");
  EXPECT_EQ(select_kernels(graph, find_kernel("softplus", "native")).kernel_names(),
            "native+native+native+native");
}

TEST(Graph, RefusalsNameTheReason) {
  const Graph graph = build_graph(parse_case_id("softplus[8,fp32,beta=2]"));
  EXPECT_EQ(select_kernels(graph, find_kernel("softplus", "softplus")).refusal,
            "it takes beta = 1 only, found 2");
}

// By hand: x = {0, 0}, softplus = ln 2 each, loss = ln 2, dx = 1/2 * sigmoid(0) = 1/4.
TEST(Graph, ComputesLossAndGradient) {
  Case c = parse_case_id("softplus[2,fp32,backward,data=constant(0)]");
  const Graph graph = build_graph(c);
  const SelectedKernels selection = select_kernels(graph, find_kernel("softplus", "softplus_v2"));
  const MemoryPlan memory = plan_apart(graph);
  const UnitVariant variant{&graph, &selection, &memory, nullptr};
  const Workspace workspace(memory.bytes);
  workspace.load(variant, seed_of(c));
  BoundGraph(graph, selection.kernels, workspace.storage_of(variant), 1).run();
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    const auto* values = static_cast<const float*>(workspace.at(variant, i));
    if (graph.tensors[i].name == "loss") {
      EXPECT_FLOAT_EQ(values[0], 0.69314718f);
    }
    if (graph.tensors[i].name == "grad_self") {
      EXPECT_FLOAT_EQ(values[1], 0.25f);
    }
  }
}

namespace {

std::string text_of_case(const std::string& id, const std::string& variant) {
  const Case c = parse_case_id(id);
  const Graph graph = build_graph(c);
  return text_of(graph, select_kernels(graph, find_kernel(c.op->name, variant)).kernels);
}

TEST(GraphText, NamesAllThatIsComputed) {
  const std::string text = text_of_case("softplus[4x8,fp32,ND,beta=2,backward]", "softplus_v2");
  EXPECT_THAT(text, testing::HasSubstr("\nsoftplus\nsoftplus/softplus_v2\n0 fp32[4x8] ND\n"));
  EXPECT_THAT(text, testing::HasSubstr("\nbeta 2\n"));
  EXPECT_THAT(text, testing::HasSubstr("\nsoftplus_grad\n"));
}

TEST(GraphText, WhatRunsOtherwiseReadsOtherwise) {
  const std::string text = text_of_case("softplus[4x8,fp32,ND]", "softplus_v2");
  EXPECT_EQ(text, text_of_case("softplus[4x8,fp32,ND]", "softplus_v2"));
  EXPECT_NE(text, text_of_case("softplus[4x8,fp32,ND]", "native"));
  EXPECT_NE(text, text_of_case("softplus[8x4,fp32,ND]", "softplus_v2"));
  EXPECT_NE(text, text_of_case("softplus[4x8,fp32,ND,beta=2]", "softplus_v2"));
  EXPECT_NE(text, text_of_case("softplus[4x8,fp32,ND,backward]", "softplus_v2"));
}

}  // namespace

}  // namespace opbench
