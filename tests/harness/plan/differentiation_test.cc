// Reverse-mode differentiation of small graphs.
#include "harness/plan/differentiation.h"

#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/evaluate.h"

namespace opbench {
namespace {

using testing::ElementsAre;

/// A graph of calls on tensors of four elements.
struct SmallGraph : Graph {
  std::size_t input(const std::string& name) {
    return add_tensor(*this, name, describe(DType::fp32, {4}), GraphTensor::input);
  }
  std::size_t call(std::string_view op, std::vector<std::size_t> inputs,
                   const AttrTexts& attrs = {}) {
    const Op& found = find_op(op);
    const std::size_t added = add_node(*this, found, std::move(inputs), attrs_of(found, attrs), "");
    nodes[added].name = std::string(op) + std::to_string(added);
    return nodes[added].outputs[0];
  }
  std::vector<std::string> ops_from(std::size_t first) const {
    std::vector<std::string> ops;
    for (std::size_t i = first; i < nodes.size(); ++i) {
      ops.emplace_back(nodes[i].problem.op->name);
    }
    return ops;
  }
};

}  // namespace

// d(x*x)/dx = dy*x + dy*x.
TEST(Differentiation, GradientsOfATensorReadTwiceAreAdded) {
  SmallGraph graph;
  const std::size_t x = graph.input("x"), y = graph.call("mul", {x, x});
  const Gradients gradients = differentiate(graph, {y});
  EXPECT_THAT(graph.ops_from(1), ElementsAre("mul", "mul", "add"));
  EXPECT_EQ(gradients.at(x), graph.nodes.back().outputs[0]);
  EXPECT_EQ(graph.tensors[gradients.at(x)].name, "grad_x");
  EXPECT_EQ(graph.nodes[1].name, "mul0.mul");
  EXPECT_EQ(graph.nodes.back().name, "grad_x.add");
}

// Neither a constant nor a tensor made of constants has a gradient, so that exp adds no
// node.
TEST(Differentiation, ConstantsTakeNoGradient) {
  SmallGraph graph;
  const std::size_t x = graph.input("x"), c = graph.input("c");
  const std::size_t y = graph.call("mul", {x, graph.call("exp", {c})});
  const Gradients gradients = differentiate(graph, {y}, {DistributionKind::constant, 1, 0}, {c});
  EXPECT_THAT(graph.ops_from(2), ElementsAre("mul"));
  EXPECT_TRUE(gradients.contains(x));
  EXPECT_FALSE(gradients.contains(c));
}

TEST(Differentiation, StartsFromASeedOfEveryLoss) {
  SmallGraph graph;
  const std::size_t x = graph.input("x");
  const std::size_t y = graph.call("relu", {x}), z = graph.call("softplus", {x});
  const Gradients gradients = differentiate(graph, {y, z}, {DistributionKind::constant, 8, 0});
  EXPECT_THAT(graph.ops_from(2), ElementsAre("softplus_grad", "relu_grad", "add"));
  for (const std::size_t loss : {y, z}) {
    const GraphTensor& seed = graph.tensors[gradients.at(loss)];
    EXPECT_EQ(seed.role, GraphTensor::gradient_seed);
    EXPECT_EQ(seed.data.a, 8);
  }
}

TEST(Differentiation, WhatLeadsToNoLossIsLeftOut) {
  SmallGraph graph;
  const std::size_t x = graph.input("x"), y = graph.call("relu", {x});
  graph.call("softplus", {x});
  differentiate(graph, {y});
  EXPECT_THAT(graph.ops_from(2), ElementsAre("relu_grad"));
}

// Both parts of a split are needed for its gradient. The part that is not read has a gradient of 0.
TEST(Differentiation, OutputsThatLeadToNoLossHaveZeros) {
  SmallGraph graph;
  const std::size_t x = graph.input("x");
  const std::size_t part = graph.call("split", {x}, {{"axis", "0"}, {"sizes", "[1,3]"}});
  differentiate(graph, {part});
  ASSERT_THAT(graph.ops_from(1), ElementsAre("concat"));
  const Node& concat = graph.nodes.back();
  ASSERT_EQ(concat.inputs.size(), 2u);
  EXPECT_EQ(graph.tensors[concat.inputs[1]].role, GraphTensor::zeros);
  EXPECT_EQ(graph.tensors[concat.inputs[1]].desc.shape, Dims{3});
}

TEST(Differentiation, AnOperatorWithoutGradientIsNamed) {
  SmallGraph graph;
  const std::size_t x = graph.input("x"), y = graph.call("softplus_grad", {x, x});
  try {
    differentiate(graph, {y});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "softplus_grad has no gradient, so it cannot run backward");
  }
}

}  // namespace opbench
