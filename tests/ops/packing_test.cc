#include "ops/packing.h"

#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/on_tensors.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// -8 is 1000 in four bits, -1 is 1111. The first number is the lowest hexadecimal digit.
TEST(PackInt4, FirstElementIsLowest) {
  const Given x{DType::int32, {1, 8}, {1, 2, 3, 4, 5, 6, 7, -8}};
  EXPECT_THAT(reference_of_tensors("pack_int4", {x})[0], ElementsAre(double(int(0x87654321))));
  EXPECT_THAT(kernel_on_tensors("pack_int4", "native", {x})[0],
              ElementsAre(double(int(0x87654321))));
  const Given bytes{DType::int8, {4}, {1, -1, 0, -8}};
  EXPECT_THAT(reference_of_tensors("pack_int4", {bytes}, {{"to", "uint8"}})[0],
              ElementsAre(0xF1, 0x80));
  EXPECT_THAT([&] { reference_of_tensors("pack_int4", {bytes}); },
              ThrowsMessage<Error>(HasSubstr("allowed for int32: a last axis of whole 8s")));
}

// 0.1 is 3DCCCCCD in fp32, -3 is 111111101 in nine bits.
TEST(TransQuantParam, ByHand) {
  const Given scale{DType::fp32, {2}, {double(0.1f), 1}}, offset{DType::fp32, {2}, {-3, 300}};
  const std::vector<double> expected = {double(0x4000'3DCC'C000 | 0x1FDLL << 37),
                                        double(0x4000'3F80'0000 | 0xFFLL << 37)};
  EXPECT_EQ(reference_of_tensors("trans_quant_param", {scale, offset})[0], expected);
  EXPECT_EQ(kernel_on_tensors("trans_quant_param", "native", {scale, offset})[0], expected);
  EXPECT_EQ(packed_scale(0x7FFF'3DCC'C000), 0x1.998p-4f);
}

}  // namespace opbench
