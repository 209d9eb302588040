#include "tensor/precision.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "tensor/elements.h"

namespace opbench {
namespace {

double rounded(DType dtype, double value) {
  std::uint64_t stored = 0;
  double back = 0;
  from_doubles(dtype, &value, 1, &stored);
  to_doubles(dtype, &stored, 1, &back);
  return back;
}

constexpr DType kFloating[] = {DType::fp16, DType::bf16, DType::fp32, DType::fp64};

}  // namespace

// By what rounding does: the largest number stays what it is, and what is 2^-7 larger does not.
TEST(Precision, LargestFinite) {
  for (const DType dtype : kFloating) {
    const double largest = largest_finite(dtype);
    EXPECT_EQ(rounded(dtype, largest), largest) << name(dtype);
    EXPECT_TRUE(std::isinf(rounded(dtype, largest * (1 + 0x1p-7)))) << name(dtype);
  }
  EXPECT_EQ(largest_finite(DType::int32), 0);
}

// From there on numbers keep all their bits.
TEST(Precision, SmallestNormal) {
  constexpr double kBits = 1 + 0x1p-7;  // bf16 has no more
  for (const DType dtype : {DType::bf16, DType::fp16}) {
    const double least = smallest_normal(dtype);
    EXPECT_EQ(rounded(dtype, least * kBits), least * kBits) << name(dtype);
  }
  EXPECT_NE(rounded(DType::bf16, 0x1p-127 * kBits), 0x1p-127 * kBits);
  EXPECT_EQ(smallest_normal(DType::fp32), double(std::numeric_limits<float>::min()));
  EXPECT_EQ(smallest_normal(DType::fp64), std::numeric_limits<double>::min());
  EXPECT_EQ(smallest_normal(DType::fp16), 0x1p-14);
}

}  // namespace opbench
