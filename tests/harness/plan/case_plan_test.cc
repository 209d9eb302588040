#include "harness/plan/case_plan.h"

#include <gmock/gmock.h>

#include "tests/support/source_tree.h"

namespace opbench {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

std::string refusal_of(const CaseSelection& selection, const std::string& variant) {
  const std::vector<PlannedCase> plan = make_case_plan(selection);
  for (const SelectedKernels& chosen : plan.at(0).variants) {
    if (chosen.variant == variant) return chosen.refusal;
  }
  return "no such variant";
}

CaseSelection by_id(const std::string& id) {
  CaseSelection selection;
  selection.case_ids = {id};
  return selection;
}

}  // namespace

TEST(Plan, ARefusedVariantNamesTheFormatThatItTakes) {
  constexpr const char* kPool = "max_pool_with_argmax_v1";
  EXPECT_THAT(refusal_of(by_id("max_pool2d[2x16x8x8,fp16,NCHW]"), kPool),
              EndsWith("takes NC1HWC0, found NCHW; try NC1HWC0 in the id"));
  EXPECT_THAT(refusal_of(by_id("max_pool2d[2x16x8x8,bf16,NCHW]"), kPool), Not(HasSubstr("try")))
      << "bf16 in no format";
  EXPECT_EQ(refusal_of(by_id("max_pool2d[2x16x8x8,fp16,NC1HWC0]"), kPool), "");

  CaseSelection selection;
  selection.ops = {"max_pool2d"};
  selection.shapes_file = source_file("cases/resnet.yaml");
  selection.formats = {Format::NCHW};
  EXPECT_THAT(refusal_of(selection, kPool), EndsWith("; try --format NC1HWC0"));
  selection.formats.push_back(Format::NC1HWC0);
  EXPECT_THAT(refusal_of(selection, kPool), Not(HasSubstr("try"))) << "it is tried anyway";
}

}  // namespace opbench
