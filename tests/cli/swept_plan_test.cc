// Tests `--set N=1,2`, which plans everything with each value.
#include "cli/swept_plan.h"

#include <gmock/gmock.h>

#include "tests/support/refusal.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Sweep : public testing::Test, protected TempDir {
 protected:
  SelectionText text_with(const std::vector<std::string>& set) {
    CaseSelection selection;
    selection.case_files = {write("x.yaml",
                                  "symbols: {N: 4, C: 3}\n"
                                  "cases:\n"
                                  "  - {op: relu, inputs: [[N, C]]}\n"
                                  "  - {op: abs, inputs: [[7]]}\n")};
    SelectionText text;
    for (const SelectionField& field : selection_fields()) {
      const bool is_set = field.flag == std::string_view("--set");
      text.push_back(is_set ? FieldText(set) : text_of(field, selection));
    }
    return text;
  }
  std::vector<std::string> ids(const std::vector<std::string>& set) {
    std::vector<std::string> found;
    for (const WorkUnit& unit : swept_plan(text_with(set))) found.push_back(unit.id);
    return found;
  }
};

}  // namespace

TEST_F(Sweep, EachCombinationRunsAndNothingTwice) {
  EXPECT_THAT(ids({}), ElementsAre("relu[4x3,fp32,ND]", "abs[7,fp32,ND]"));
  EXPECT_THAT(ids({"N=1,2", "C=5"}),
              ElementsAre("relu[1x5,fp32,ND]", "abs[7,fp32,ND]", "relu[2x5,fp32,ND]"));
  EXPECT_THAT(ids({"N=1,2", "C=5,6"}),
              ElementsAre("relu[1x5,fp32,ND]", "abs[7,fp32,ND]", "relu[1x6,fp32,ND]",
                          "relu[2x5,fp32,ND]", "relu[2x6,fp32,ND]"));
}

TEST_F(Sweep, WhatIsNoNumberIsRefused) {
  EXPECT_THAT(refusal_by([&] { ids({"N=1,x"}); }), HasSubstr("--set 'N=x' must be NAME=VALUE"));
  EXPECT_THAT(refusal_by([&] { ids({"N=1,"}); }), HasSubstr("--set 'N=' must be NAME=VALUE"));
  std::string many = "N=1";
  for (int i = 2; i < 40; ++i) many += "," + std::to_string(i);
  EXPECT_THAT(refusal_by([&] {
                ids({many, "C" + many.substr(1)});
              }),
              HasSubstr("more than 1000 combinations"));
}

}  // namespace opbench
