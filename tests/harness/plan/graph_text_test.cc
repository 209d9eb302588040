#include "harness/plan/graph_text.h"

#include <gmock/gmock.h>

#include "harness/plan/case_graph.h"
#include "harness/plan/selection.h"
#include "tests/evaluate.h"

namespace opbench {
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
