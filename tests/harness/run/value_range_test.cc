#include "harness/run/value_range.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/non_finite.h"

namespace opbench {
namespace {

ValueRange range_of(DType dtype, const std::vector<double>& values) {
  ValueRange range;
  range.dtype = dtype;
  range.add(values.data(), std::ssize(values));
  return range;
}

}  // namespace

TEST(ValueRange, CountsWhatSaysOverflow) {
  const ValueRange range = range_of(DType::fp16, {0, -65504, 65504, kInf, -kInf, kNan, 1, -0.0});
  EXPECT_EQ(range.elements, 8);
  EXPECT_EQ(range.zero, 2);
  EXPECT_EQ(range.largest, 2);
  EXPECT_EQ(range.inf, 2);
  EXPECT_EQ(range.nan, 1);
  EXPECT_EQ(range.max_abs, 65504);
  EXPECT_EQ(range_of(DType::fp32, {65504}).largest, 0) << "nothing special in fp32";
}

TEST(ValueRange, HeadroomIsInPowersOfTwo) {
  EXPECT_EQ(range_of(DType::fp16, {65504}).headroom_bits(), 0);
  EXPECT_EQ(range_of(DType::fp16, {-2, 1}).headroom_bits(), 14.99);  // log2(32752) = 14.9993
  EXPECT_EQ(range_of(DType::fp16, {kInf, 1}).headroom_bits(), 0);
  EXPECT_EQ(range_of(DType::fp16, {0, 0}).headroom_bits(), std::nullopt);
  EXPECT_EQ(range_of(DType::fp32, {1}).headroom_bits(), 127.99);
  EXPECT_EQ(range_of(DType::bf16, {1}).headroom_bits(), 127.99);
  EXPECT_EQ(range_of(DType::int32, {1}).headroom_bits(), std::nullopt);
}

TEST(ValueRange, ExponentsSaySubnormals) {
  // Normal from 2^-14 on; the smallest fp16 number is 2^-24.
  const ValueRange range = range_of(DType::fp16, {0, 0x1p-14, -0x1.FFp-15, 0x1p-24, 1,
                                                  std::numeric_limits<double>::denorm_min()});
  EXPECT_EQ(range.below(-14), 3);
  EXPECT_EQ(range.below(-24), 1);
  EXPECT_EQ(range.below(1), 5) << "all but the 0";
  EXPECT_EQ(range.below(5000), 5);
  EXPECT_EQ(range.below(-5000), 0);
}

TEST(ValueRange, OnlyKindsThatInputsDoNotHoldAreNew) {
  const ValueRange both = range_of(DType::fp16, {kInf, 65504, kNan});
  EXPECT_FALSE(new_values(both, both).is_any());
  const NewValues found = new_values(range_of(DType::fp16, {kInf}), both);
  EXPECT_EQ(found.inf, 0);
  EXPECT_EQ(found.nan, 1) << "Inf - Inf is the operator's own";
  EXPECT_EQ(found.largest, 1);
  EXPECT_EQ(to_string(found, 3), "1 NaN, 1 of +-65504 among 3 elements");
  EXPECT_EQ(to_string(NewValues{}, 3), "");
}

TEST(ValueRange, MergesToWhatBothHold) {
  ValueRange sum = range_of(DType::fp16, {1, 0x1p-20});
  sum.merge(range_of(DType::fp16, {-8, kNan}));
  EXPECT_EQ(sum.elements, 4);
  EXPECT_EQ(sum.max_abs, 8);
  EXPECT_EQ(sum.nan, 1);
  EXPECT_EQ(sum.below(-14), 1);
}

// Three channels of 16 lanes: padding is not counted.
TEST(ValueRange, PaddingIsLeftOut) {
  Tensor tensor(describe(DType::fp16, {1, 3, 1, 1}, Format::NC1HWC0));
  const std::uint16_t inf = 0x7C00, one = 0x3C00;
  auto* const lanes = static_cast<std::uint16_t*>(tensor.data());
  for (int i = 0; i < 16; ++i) lanes[i] = i < 3 ? one : inf;
  const ValueRange range = storage_range(tensor.desc, tensor.data(), DType::fp16);
  EXPECT_EQ(range.elements, 3);
  EXPECT_EQ(range.inf, 0);
}

}  // namespace opbench
