#include "ops/dynamic_mx_quant.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tests/evaluate.h"

namespace opbench {

using testing::ElementsAre;

// 448 = 1.75*2^8 and e4m3 ends at 1.75*2^8, so the scale is 1; 449 is clipped.
TEST(DynamicMxQuant, ScaleIsAPowerOfTwo) {
  const MxRule rule(attrs_of(find_op("dynamic_mx_quant"), {}));
  EXPECT_EQ(rule.scale_code(448), 127);
  EXPECT_EQ(rule.scale_code(512), 128);
  EXPECT_EQ(rule.scale_code(0), 0);
  EXPECT_EQ(rule.scale_code(std::numeric_limits<float>::infinity()), 255);
  EXPECT_EQ(rule.step(449, 127), 0x7E);
  EXPECT_EQ(rule.step(-1, 127), 0xB8);
}

TEST(DynamicMxQuant, RoundsTheScaleUp) {
  const MxRule rule(attrs_of(find_op("dynamic_mx_quant"), {{"scale_alg", "1"}}));
  EXPECT_EQ(rule.scale_code(448), 127) << "an exact power of two";
  EXPECT_EQ(rule.scale_code(449), 128);
}

TEST(DynamicMxQuant, ScalesLieInPairs) {
  const MxBlocks blocks({2, 40}, attrs_of(find_op("dynamic_mx_quant"), {}));
  std::vector<std::int64_t> sizes, scales;
  blocks.for_each([&](const MxBlock& b) { sizes.push_back(b.count), scales.push_back(b.scale); });
  EXPECT_THAT(sizes, ElementsAre(32, 8, 32, 8));
  EXPECT_THAT(scales, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(MxBlocks({33}, attrs_of(find_op("dynamic_mx_quant"), {})).pairs(), 1);
}

}  // namespace opbench
