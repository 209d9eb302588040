#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include "profiles/network_context.h"
#include "tests/profiles/network_calls.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// The nodes as lines "exp(relu) -> exp".
std::vector<std::string> nodes_of(const Neighbourhood& found) {
  std::vector<std::string> all;
  for (const NeighbourNode& node : found.nodes) {
    all.push_back(fmt::format("{}({}) -> {}", node.name, fmt::join(node.inputs, ", "),
                              fmt::join(node.outputs, ", ")));
  }
  return all;
}

/// Relu, Exp and Tanh, each of which reads the result before.
NetworkCallList chain() {
  NetworkCallList list;
  list.add("Relu", "4,8", "4,8").add("Exp", "4,8", "4,8").add("Tanh", "4,8", "4,8");
  return list;
}

// Depth 0 is the operator alone. Depth 1 adds one step on each side.
TEST(Neighbourhood, ReachesAsManyStepsAsItsDepth) {
  const NetworkCallList list = chain();
  const Neighbourhood alone = neighbourhood_of(list.calls(), 1, 0);
  EXPECT_THAT(nodes_of(alone), ElementsAre("exp(self_of_exp) -> exp"));
  EXPECT_FALSE(alone.has_producer);
  EXPECT_FALSE(alone.has_consumer);
  EXPECT_EQ(alone.edges, 0U);
  const Neighbourhood one = neighbourhood_of(list.calls(), 1, 1);
  EXPECT_THAT(nodes_of(one),
              ElementsAre("relu(self_of_relu) -> relu", "exp(relu) -> exp", "tanh(exp) -> tanh"));
  EXPECT_EQ(one.centre, "exp");
  EXPECT_TRUE(one.has_producer);
  EXPECT_TRUE(one.has_consumer);
  EXPECT_EQ(one.edges, 2U);
  EXPECT_THAT(one.outputs, ElementsAre("tanh"));
}

// Each of the two ends has neighbours on one side only.
TEST(Neighbourhood, AtAnEndHasOneSide) {
  const NetworkCallList list = chain();
  const Neighbourhood first = neighbourhood_of(list.calls(), 0, 1);
  EXPECT_FALSE(first.has_producer);
  EXPECT_TRUE(first.has_consumer);
  const Neighbourhood last = neighbourhood_of(list.calls(), 2, 2);
  EXPECT_TRUE(last.has_producer);
  EXPECT_FALSE(last.has_consumer);
  EXPECT_EQ(last.nodes.size(), 3U);
}

// Both links could also be links to the tensor that Relu read.
TEST(Neighbourhood, CountsAmbiguousLinks) {
  const Neighbourhood found = neighbourhood_of(chain().calls(), 1, 1);
  EXPECT_EQ(found.ambiguous, 2U);
  EXPECT_THAT(found.nodes[1].ambiguous, ElementsAre("relu"));
  EXPECT_THAT(found.nodes[0].ambiguous, IsEmpty());
}

// The second of two equal operators gets a number. A tensor that both read has one name.
TEST(Neighbourhood, NamesNodesAndSharesInputs) {
  NetworkCallList list;
  list.add("Mul", "4,8;4,1", "4,8").add("Mul", "4,8;4,1", "4,8");
  const Neighbourhood found = neighbourhood_of(list.calls(), 0, 1);
  ASSERT_EQ(found.nodes.size(), 2U);
  EXPECT_THAT(found.nodes[1].name, "mul.2");
  EXPECT_THAT(found.nodes[1].inputs, ElementsAre("mul", found.nodes[0].inputs[1]));
  EXPECT_EQ(found.inputs.size(), 2U);
  EXPECT_EQ(found.inputs[0].shape, (Dims{4, 8}));
  EXPECT_EQ(found.inputs[1].shape, (Dims{4, 1}));
  EXPECT_FALSE(found.inputs[0].is_parameter);
  EXPECT_FALSE(found.inputs[0].states_dtype);
}

// A conversion is counted once and is not a node. The input has its private format.
TEST(Neighbourhood, SeesThroughConversions) {
  const auto plain = tensors_of("1,16,4,4", "FLOAT", "NCHW");
  const auto blocks = tensors_of("1,1,4,4,16", "FLOAT", "NC1HWC0");
  NetworkCallList list;
  list.add("Exp", "1,16,4,4", "1,16,4,4").add(profiled("TransData", plain, blocks));
  list.add(profiled("Relu", blocks, blocks));
  const Neighbourhood found = neighbourhood_of(list.calls(), 2, 1);
  EXPECT_THAT(nodes_of(found), ElementsAre("exp(self_of_exp) -> exp", "relu(exp) -> relu"));
  EXPECT_EQ(found.trans_data, 1U);
  EXPECT_EQ(found.casts, 0U);
}

TEST(Neighbourhood, SaysHowATensorFromOutsideArrives) {
  const auto blocks = tensors_of("1,2,4,4,8", "FLOAT", "NC1HWC0");
  NetworkCallList list;
  list.add(profiled("Relu", blocks, blocks));
  const Neighbourhood found = neighbourhood_of(list.calls(), 0, 1);
  ASSERT_EQ(found.inputs.size(), 1U);
  EXPECT_EQ(found.inputs[0].format, Format::NC1HWC0);
  EXPECT_EQ(found.inputs[0].shape, (Dims{1, 16, 4, 4}));
}

// An operator without a case ends the neighbourhood on either side. The message states the place
// and the reason.
TEST(Neighbourhood, SaysWhatEndsIt) {
  NetworkCallList list;
  list.add("Unheard", "4,9", "4,8").add("Exp", "4,8", "4,8").add("Unseen", "4,8", "4,7");
  const Neighbourhood found = neighbourhood_of(list.calls(), 1, 3);
  EXPECT_EQ(found.nodes.size(), 1U);
  ASSERT_EQ(found.left_out.size(), 2U);
  EXPECT_EQ(found.left_out[0],
            "Unheard (t.csv:2), which makes an input: no operator of that name is known");
  EXPECT_EQ(found.left_out[1],
            "Unseen (t.csv:4), which reads a result: no operator of that name is known");
}

}  // namespace
}  // namespace opbench
