#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/evaluate.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// 1.5*3 + 0.5 = 5, 2.5*1 + 0 = 2.5, a tie that goes to 2.
TEST(AscendQuant, ByChannel) {
  EXPECT_THAT(
      reference_values("ascend_quant_v2", DType::fp32, {{1.5, 2.5, 100}, {3, 1, 2}, {0.5, 0, 0}}),
      ElementsAre(5, 2, 127));
  for (const char* variant : {"native", "ascend_quant_v2"}) {
    EXPECT_THAT(kernel_values("ascend_quant_v2", variant, DType::fp16,
                              {{1.5, 2.5, -100}, {3, 1, 2}, {0.5, 0, 0}}),
                ElementsAre(5, 2, -128))
        << variant;
  }
}

TEST(AscendQuant, AppliesTheScaleTwiceOrDivides) {
  EXPECT_THAT(reference_values("ascend_quant_v2", DType::fp32, {{3}, {2}}, {{"sqrt_mode", "true"}}),
              ElementsAre(12));
  EXPECT_THAT(reference_values("ascend_quant_v2", DType::fp32, {{3}, {2}}, {{"div_mode", "true"}}),
              ElementsAre(2))
      << "1.5 goes to even";
}

TEST(AscendQuant, RefusesOtherChannelsAndDTypes) {
  EXPECT_THAT(
      [] {
        reference_values("ascend_quant_v2", DType::fp32, {{1, 2, 3}, {1, 2}});
      },
      ThrowsMessage<Error>(HasSubstr("'scale' has shape 2; allowed: [1] or [3]")));
  EXPECT_THAT(
      [] {
        attrs_of(find_op("ascend_quant_v2"), {{"dst_type", "int32"}});
      },
      ThrowsMessage<Error>(HasSubstr("it must be one of int8, int4, fp8_e4m3fn, fp8_e5m2, hif8")));
}

}  // namespace opbench
