#include "profiles/unsupported_operators.h"

#include <gmock/gmock.h>

namespace opbench {

using testing::ElementsAre;
using testing::IsEmpty;

// The table of PyTorch 1.13, shortened, and the same of PyTorch 1.5.
TEST(UnsupportedOperators, ReadsTheProfilersTable) {
  EXPECT_THAT(framework_operators("-------  -----\n"
                                  "                Name    Self CPU %   # of Calls\n"
                                  "-------  -----\n"
                                  "         aten::addmm        40.00%            1\n"
                                  "AddmmBackward0              10.00%            1\n"
                                  "          aten::add_        10.00%            2\n"
                                  "          aten::add_        10.00%            2\n"
                                  "-------  -----\n"
                                  "Self CPU time total: 130.000us\n"),
              ElementsAre("aten::addmm", "aten::add_"));
  EXPECT_THAT(framework_operators("Name         Self CPU total %\n------  ----\n"
                                  "addmm        40.00%\n_cat  1.00%\nTBackward  1.00%\n------\n"
                                  "Self CPU time total: 130.000us\n"),
              ElementsAre("addmm", "_cat"));
  EXPECT_THAT(framework_operators("{\"name\": \"aten::mul\", \"ph\": \"X\"}"),
              ElementsAre("aten::mul"));
  EXPECT_THAT(framework_operators("nothing"), IsEmpty());
}

TEST(UnsupportedOperators, ReadsListsOfAnyForm) {
  const OperatorList list(
      "| 1 | addmm | addmm_npu |\n| 2 | torch.cat | 是 |\n| 3 | torch.lu | 否 |\n"
      "aten::mul_.Tensor\ntorch_npu.npu_iou\n");
  for (const char* op : {"aten::addmm", "addmm", "aten::cat", "aten::mul_", "npu::npu_iou"}) {
    EXPECT_TRUE(list.has(op)) << op;
  }
  for (const char* op : {"aten::lu", "aten::mul", "aten::add"}) EXPECT_FALSE(list.has(op)) << op;
  EXPECT_TRUE(OperatorList("--\n").empty());
}

}  // namespace opbench
