#include "compare/name_map_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tensor/error.h"
#include "tests/support/refusal.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal(const std::string& text) {
  return refusal_by([&] { parse_name_map(text, "map.yaml"); });
}

TEST(NameMapFile, ExtendsTheDefaultMap) {
  const NameMap map = parse_name_map(
      "ops:\n"
      "  MyOp: TheirOp\n"
      "  MyNorm: [TheirNorm, TheirOtherNorm]\n"
      "params:\n"
      "  MyOp: {mine: theirs}\n",
      "map.yaml");
  EXPECT_THAT(map.ops.at("MyOp"), ElementsAre("TheirOp"));
  EXPECT_THAT(map.ops.at("MyNorm"), ElementsAre("TheirNorm", "TheirOtherNorm"));
  EXPECT_EQ(map.params.at("MyOp").at("mine"), "theirs");
  EXPECT_THAT(map.ops.at("NativeBatchNormBackward"), ElementsAre("CudnnBatchNormBackward"));
}

TEST(NameMapFile, HoldsInBothDirections) {
  const NameMap map = parse_name_map("ops: {MyOp: TheirOp}\nparams: {MyOp: {mine: theirs}}\n", "m");
  EXPECT_THAT(map.ops.at("TheirOp"), ElementsAre("MyOp"));
  EXPECT_EQ(map.params.at("TheirOp").at("theirs"), "mine");
}

TEST(NameMapFile, OverridesTheDefaultMap) {
  const NameMap map = parse_name_map(
      "ops: {NpuConvolutionBackward: MyConv}\nparams: {NpuConvolutionBackward: {input: x}}\n", "m");
  EXPECT_THAT(map.ops.at("NpuConvolutionBackward"), ElementsAre("MyConv"));
  EXPECT_EQ(map.params.at("NpuConvolutionBackward").at("input"), "x");
}

TEST(NameMapFile, AnEmptyFileIsTheDefaultMap) {
  EXPECT_EQ(parse_name_map("", "m").ops, default_name_map().ops);
}

TEST(NameMapFile, ErrorsNameTheLine) {
  EXPECT_THAT(refusal("ops: {}\nparam: {}\n"), HasSubstr("map.yaml:2: unknown key 'param'"));
  EXPECT_THAT(refusal("ops:\n  A:\n    - b\n    - [c]\n"), HasSubstr("map.yaml:4: "));
  EXPECT_THAT(refusal("ops:\n  A: a/b\n"), HasSubstr("map.yaml:2: "));
  EXPECT_THAT(refusal("ops:\n  A: []\n"), HasSubstr("map.yaml:2: ops: A is an empty list"));
  EXPECT_THAT(refusal("ops:\n  A: {b: c}\n"), HasSubstr("map.yaml:2: "));
  EXPECT_THAT(refusal("ops:\n  A: b\n  A: c\n"), HasSubstr("map.yaml:3: "));
  EXPECT_THAT(refusal("params:\n  A: b\n"), HasSubstr("map.yaml:2: "));
  EXPECT_THAT(refusal("params:\n  A: {b: [c]}\n"), HasSubstr("map.yaml:2: "));
  EXPECT_THROW(load_name_map("no/such/map.yaml"), Error);
}

}  // namespace
}  // namespace opbench
