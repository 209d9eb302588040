#include "ops/dequant_swiglu_quant.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tensor/error.h"
#include "tests/on_tensors.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

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

TEST(DequantSwigluQuant, NamesWhatItRefuses) {
  const Given x{DType::fp16, {2, 2}, {1, 2, 3, 4}}, none{DType::fp32, {0}, {}};
  const auto refused = [&](const Given& scales, std::vector<double> counts, const char* message) {
    const auto groups = std::int64_t(counts.size());
    EXPECT_THAT(
        [&] {
          reference_of_tensors("dequant_swiglu_quant",
                               {x, none, none, scales, none, {DType::int64, {groups}, counts}});
        },
        ThrowsMessage<Error>(HasSubstr(message)));
  };
  refused({DType::fp32, {0, 1}, {}}, {2}, "'quant_scale' has shape 0x1");
  refused(none, {-1, 3}, "'group_index' has -1; allowed: 0 to 2");
  refused(none, {1, 0x1p62}, "allowed: 0 to 1, the rows that are left");
  refused(none, {1}, "'group_index' counts 1 rows; allowed: all 2");
}

}  // namespace opbench
