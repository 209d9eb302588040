#include <fmt/format.h>
#include <gmock/gmock.h>

#include "profiles/call_graph.h"
#include "tests/profiles/network_calls.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// The text of a link: "1.0" is output 0 of call 1, "in2" is the third tensor from outside. "?"
/// marks a link that could name another tensor.
std::string link_text(const TensorLink& link) {
  const std::string name = link.call == TensorLink::kOutside
                               ? fmt::format("in{}", link.tensor)
                               : fmt::format("{}.{}", link.call, link.tensor);
  return name + (link.is_ambiguous ? "?" : "");
}

std::vector<std::string> links_of(const CallLinks& links, std::size_t call) {
  std::vector<std::string> all;
  for (const TensorLink& link : links.inputs.at(call)) all.push_back(link_text(link));
  return all;
}

// Relu makes 4x8 and Exp 4x9. Only the shapes distinguish them.
TEST(CallLinks, TakeTheEarlierOutputOfTheSameShape) {
  NetworkCallList list;
  list.add("Relu", "4,8", "4,8").add("Exp", "4,9", "4,9");
  list.add("Tanh", "4,8", "4,8").add("Sigmoid", "4,9", "4,9");
  const CallLinks links = link_calls(list.calls());
  EXPECT_THAT(links_of(links, 0), ElementsAre("in0"));
  EXPECT_THAT(links_of(links, 1), ElementsAre("in1"));
  EXPECT_THAT(links_of(links, 2), ElementsAre("0.0?"));
  EXPECT_THAT(links_of(links, 3), ElementsAre("1.0?"));
  ASSERT_EQ(links.outside.size(), 2U);
  EXPECT_EQ(links.outside[1], &list.calls()[1].op->recorded.inputs[0]);
}

// Tanh can read the result of Relu or Relu's input from outside. The latest tensor is taken.
TEST(CallLinks, OfTwoTensorsThatFitAreTheLatestAndAmbiguous) {
  NetworkCallList list;
  list.add("Relu", "4,8", "4,8").add("Tanh", "4,8", "4,8");
  EXPECT_THAT(links_of(link_calls(list.calls()), 1), ElementsAre("0.0?"));
}

// Add has two inputs of one key, and exactly two tensors fit.
TEST(CallLinks, InputsOfOneCallAreDifferentTensors) {
  NetworkCallList list;
  list.add("Relu", "4,8", "4,8").add("Add", "4,8;4,8", "4,8");
  EXPECT_THAT(links_of(link_calls(list.calls()), 1), ElementsAre("0.0", "in0"));
}

TEST(CallLinks, KeepDtypesApart) {
  NetworkCallList list;
  list.add(profiled("Relu", nd("4,8"), nd("4,8")));
  list.add(profiled("Exp", tensors_of("4,8", "FLOAT16", "ND"), tensors_of("4,8", "FLOAT16", "ND")));
  EXPECT_THAT(links_of(link_calls(list.calls()), 1), ElementsAre("in1"));
}

// ND and NCHW have the same storage, NHWC differs.
TEST(CallLinks, KeepFormatsApartThatStoreDifferently) {
  const auto last = [](const std::string& format) {
    NetworkCallList list;
    list.add(profiled("Relu", nd("2,3,4,5"), nd("2,3,4,5")));
    list.add(profiled("Exp", tensors_of("2,3,4,5", "FLOAT", format), nd("2,3,4,5")));
    return link_calls(list.calls()).inputs[1][0].call;
  };
  EXPECT_EQ(last("NCHW"), 0U);
  EXPECT_EQ(last("NHWC"), TensorLink::kOutside);
}

// 1,16,4,4 in 5HD has one block of 16. The conversion is skipped, so Relu reads in0.
TEST(CallLinks, SeeThroughConversions) {
  const auto plain = tensors_of("1,16,4,4", "FLOAT", "NCHW");
  const auto blocks = tensors_of("1,1,4,4,16", "FLOAT", "NC1HWC0");
  NetworkCallList list;
  list.add(profiled("TransData", plain, blocks)).add(profiled("Relu", blocks, blocks));
  const CallLinks links = link_calls(list.calls());
  EXPECT_THAT(links_of(links, 1), ElementsAre("in0"));
  EXPECT_THAT(links.inputs[1][0].conversions, ElementsAre(0U));
  EXPECT_THAT(links.inputs[0][0].conversions, IsEmpty());
}

// Many tensors have a single element, so only the call directly before is linked.
TEST(CallLinks, OfOneElementReachOneCallBack) {
  NetworkCallList next, apart;
  next.add("Relu", "1", "1").add("Exp", "1", "1");
  EXPECT_THAT(links_of(link_calls(next.calls()), 1), ElementsAre("0.0"));
  apart.add("Relu", "1", "1").add("Tanh", "4,8", "4,8").add("Exp", "1", "1");
  EXPECT_THAT(links_of(link_calls(apart.calls()), 2), ElementsAre("in2"));
}

// The weight 8x8 has the shape of Relu's result but is not linked to it.
TEST(CallLinks, WeightsComeFromOutside) {
  NetworkCallList list;
  list.add("Relu", "8,8", "8,8");
  list.add(profiled("LayerNorm", nd("8,8;8;8"), nd("8,8;8,1;8,1")));
  ASSERT_TRUE(list.calls()[1].op->built.spec) << list.calls()[1].op->built.obstacle;
  const std::vector<std::string> links = links_of(link_calls(list.calls()), 1);
  EXPECT_THAT(links, ElementsAre("0.0?", "in1", "in2"));
  NetworkCallList vectors;
  vectors.add("Relu", "8", "8");
  vectors.add(profiled("LayerNorm", nd("8,8;8;8"), nd("8,8;8,1;8,1")));
  EXPECT_EQ(link_calls(vectors.calls()).inputs[1][1].call, TensorLink::kOutside);
}

// A call has at most 64 tensors. A call of 65 tensors is not linked, and no later call is linked to
// it.
TEST(CallLinks, CallsOfVeryManyTensorsAreNotLinked) {
  const auto reader_of = [](std::size_t inputs) {
    NetworkCallList list;
    list.add("Relu", "4,8", "4,8");
    std::string shapes = "4,8";
    for (std::size_t i = 1; i < inputs; ++i) shapes += ";4,8";
    list.add("AddN", shapes, "4,9").add("Exp", "4,9", "4,9");
    return link_calls(list.calls());
  };
  const CallLinks most = reader_of(63);
  EXPECT_EQ(most.inputs[1][0].call, 0U);
  EXPECT_EQ(most.inputs[2][0].call, 1U);
  const CallLinks more = reader_of(64);
  EXPECT_EQ(more.inputs[1].size(), 64U);
  EXPECT_EQ(more.inputs[1][0].call, TensorLink::kOutside);
  EXPECT_EQ(more.inputs[2][0].call, TensorLink::kOutside);
}

TEST(CallLinks, NamesTellWeights) {
  const Op& conv = find_op("conv2d");
  EXPECT_FALSE(is_weight(conv, 0));
  EXPECT_TRUE(is_weight(conv, 1));
  EXPECT_FALSE(is_weight(find_op("matmul"), 1));
}

}  // namespace
}  // namespace opbench
