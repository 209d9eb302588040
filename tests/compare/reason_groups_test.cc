#include "compare/reason_groups.h"

#include <gtest/gtest.h>

#include "tests/compare/comparison_support.h"

namespace opbench {
namespace {

using compare_tests::kTrue;

TEST(ReasonGroups, TheLargestComesFirst) {
  const auto sample =
      compare_tests::compare({{"A", "1", {{"input/x", kTrue, {}}, {"output/y", {}, kTrue}}},
                              {"B", "2", {{"input/x", {}, kTrue}}}});
  const auto groups = by_reason(sample.comparison, Verdict::not_compared);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].reason, "only in gpu.h5");
  EXPECT_EQ(groups[0].tensors.size(), 2u);
  EXPECT_EQ(groups[1].reason, "only in npu.h5");
}

TEST(ReasonGroups, SayWhyNothingWasCompared) {
  const auto compared = compare_tests::compare({{"A", "1", {{"output/y", kTrue, kTrue}}}});
  EXPECT_EQ(why_not_compared(compared.comparison), "");
  const auto none = compare_tests::compare({{"A", "1", {{"output/y", kTrue, {}}}}});
  EXPECT_EQ(why_not_compared(none.comparison),
            "1 tensor could not be compared, first /A/1/output/y: only in npu.h5");
}

}  // namespace
}  // namespace opbench
