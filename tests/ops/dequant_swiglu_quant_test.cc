#include "ops/dequant_swiglu_quant.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/evaluate.h"

namespace opbench {

using testing::ElementsAre;

// The right half is activated: silu(1) and silu(-1), times 2 and 100, without scales.
TEST(DequantSwigluQuant, StaticOfPlainNumbers) {
  const double silu = 1 / (1 + std::exp(-1.0));
  const GateRule rule(attrs_of(find_op("dequant_swiglu_quant"), {}));
  EXPECT_EQ(rule.activated(1, 2), 3);
  EXPECT_EQ(rule.other(1, 2), 1);
  EXPECT_DOUBLE_EQ(rule(1.0, 2.0), 2 * silu);
}

TEST(DequantSwigluQuant, ClippedModeTakesEvenElements) {
  const GateRule rule(attrs_of(find_op("dequant_swiglu_quant"), {{"swiglu_mode", "1"}}));
  EXPECT_EQ(rule.activated(3, 8), 6);
  EXPECT_EQ(rule.other(3, 8), 7);
  EXPECT_EQ(rule(9.0, -9.0), rule(7.0, -7.0)) << "the limit is 7";
}

TEST(DequantSwigluQuant, GroupsCountRows) {
  const std::int64_t counts[] = {2, 0, 1};
  EXPECT_THAT(groups_of_rows(counts, 5), ElementsAre(0, 0, 2, -1, -1));
}

}  // namespace opbench
