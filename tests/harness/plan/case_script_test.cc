#include "harness/plan/case_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tensor/error.h"

namespace opbench {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

std::string script_of(const char* id) { return case_script(parse_case_id(id), "opbench script"); }

}  // namespace

TEST(CaseScript, HasTheCaseWithItsValuesAndItsExpression) {
  const std::string text = script_of("softplus[2x16x4x4,fp16,NC1HWC0,beta=2,seed=5]");
  EXPECT_THAT(text,
              HasSubstr(R"(("self", "float16", [2, 16, 4, 4], "NC1HWC0", ("normal", 0, 1), 5))"));
  EXPECT_THAT(text, HasSubstr(R"(a = {"beta": 2, "threshold": 20})"));
  EXPECT_THAT(text, HasSubstr(R"(return F.softplus(x[0], a["beta"], a["threshold"]))"));
  EXPECT_THAT(text, Not(HasSubstr("{{")));
  EXPECT_THAT(text, Not(HasSubstr("SEEDS")));
}

TEST(CaseScript, BeginsTheBackwardPassLikeARun) {
  EXPECT_THAT(script_of("softplus[2x16x4x4,fp16,NCHW,backward]"), HasSubstr("ENDS = [(0, True)]"));
  EXPECT_THAT(script_of("matmul[4x8,8x2,fp32,backward]"), HasSubstr("ENDS = [(0, False)]"));
}

TEST(CaseScript, AGradientIsThatOfItsForwardOperator) {
  const std::string text = script_of("sin_grad[8,8,fp32]");
  EXPECT_THAT(text, HasSubstr("return torch.sin(x[0])"));
  EXPECT_THAT(text, HasSubstr(R"(SOURCES = [("output_gradient", 0), ("input", 0)])"));
}

// Shape [0] stands for an input that is not given.
TEST(CaseScript, LeavesOutInputsThatAreNotGiven) {
  EXPECT_THAT(script_of("range[scalar,0,0,fp32,ND,count=16]"), Not(HasSubstr(", [0], ")));
}

TEST(CaseScript, RefusesWhatTorchOrAScriptDoesNotHave) {
  EXPECT_THAT([] { script_of("trans_data[2x16x4x4,fp16,NCHW,dst_format=NC1HWC0]"); },
              ThrowsMessage<Error>(HasSubstr("torch has no simple call for trans_data")));
  EXPECT_THAT([] { script_of("softplus[8,fp32,data=special]"); },
              ThrowsMessage<Error>(HasSubstr("'self' has the data special")));
}

}  // namespace opbench
