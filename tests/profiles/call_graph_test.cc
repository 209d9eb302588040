#include "profiles/call_graph.h"

#include <gmock/gmock.h>

#include "tests/profiles/network_calls.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::size_t kOutside = TensorLink::kOutside;

std::vector<ProfiledTensor> half(const std::string& shapes) {
  const std::size_t count =
      1 + static_cast<std::size_t>(std::count(shapes.begin(), shapes.end(), ';'));
  std::string dtypes = "FLOAT16", formats = "ND";
  for (std::size_t i = 1; i < count; ++i) dtypes += ";FLOAT16", formats += ";ND";
  return tensors_of(shapes, dtypes, formats);
}

/// Casts of both operands to fp16, a product, and a cast of the result to fp32.
NetworkCallList casts_around_a_product() {
  NetworkCallList list;
  list.add(profiled("Cast", nd("4,5"), half("4,5")));
  list.add(profiled("Cast", nd("5,6"), half("5,6")));
  list.add(profiled("MatMul", half("4,5;5,6"), half("4,6")));
  list.add(profiled("Cast", half("4,6"), nd("4,6")));
  list.add("Relu", "4,6", "4,6");
  return list;
}

}  // namespace

TEST(CallGraph, HasANodeForEachCase) {
  NetworkCallList list;
  list.add("Relu", "4,8", "4,8").add("Unheard", "4,8", "4,8").add("Exp", "4,8", "4,8");
  const CallGraph graph = graph_of(list.calls(), 0);
  ASSERT_THAT(graph.nodes, SizeIs(3));
  EXPECT_TRUE(graph.nodes[0].has_value());
  EXPECT_FALSE(graph.nodes[1].has_value());
  EXPECT_EQ(graph.nodes[2]->inputs.at(0).link.call, 1U) << "who made it";
  EXPECT_EQ(graph.nodes[2]->inputs[0].node, kOutside) << "and that is no node";
  EXPECT_EQ(described(list.calls()[1]), "Unheard (t.csv:3)");
}

// The product becomes a product in fp32 and Relu reads it, as in a context with mixed precision.
TEST(CallGraph, SeesThroughCastsAroundTheCubeUnit) {
  const NetworkCallList list = casts_around_a_product();
  const CallGraph graph = graph_of(list.calls(), 4);
  ASSERT_TRUE(graph.nodes[2].has_value());
  EXPECT_EQ(graph.nodes[2]->spec.dtype, DType::fp32);
  EXPECT_EQ(graph.nodes[2]->inputs[0].node, kOutside);
  EXPECT_THAT(graph.nodes[2]->inputs[0].casts, ElementsAre(0U));
  EXPECT_THAT(graph.nodes[2]->inputs[1].casts, ElementsAre(1U));
  EXPECT_EQ(graph.nodes[4]->inputs[0].node, 2U);
  EXPECT_THAT(graph.nodes[4]->inputs[0].casts, ElementsAre(3U));
}

// The operator in the middle stays, even if it is a cast.
TEST(CallGraph, LeavesTheCentreAlone) {
  const NetworkCallList list = casts_around_a_product();
  const CallGraph graph = graph_of(list.calls(), 0);
  EXPECT_EQ(graph.nodes[2]->spec.dtype, DType::fp16);
  EXPECT_EQ(graph.nodes[2]->inputs[0].node, 0U);
  EXPECT_THAT(graph.nodes[2]->inputs[0].casts, IsEmpty());
}

// One operand comes in fp16, so the product stays in fp16.
TEST(CallGraph, SeesThroughNoCastsWhereNotAllIsFp32) {
  NetworkCallList list;
  list.add(profiled("Cast", nd("4,5"), half("4,5")));
  list.add(profiled("MatMul", half("4,5;5,6"), half("4,6")));
  list.add(profiled("Cast", half("4,6"), nd("4,6")));
  const CallGraph graph = graph_of(list.calls(), 2);
  EXPECT_EQ(graph.nodes[1]->spec.dtype, DType::fp16);
  EXPECT_EQ(graph.nodes[1]->inputs[0].node, 0U);
}

}  // namespace opbench
