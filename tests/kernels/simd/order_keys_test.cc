// Tests the order of the elements in ops/order.h: NaN is the greatest, +0 and -0 are equal.
#include "kernels/simd/order_keys.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/non_finite.h"

namespace opbench {
namespace {

// `tiny` is the smallest number above 0 of the type, `most` is its greatest.
template <class T>
void expect_keys_grow(double tiny, double most) {
  const std::vector<double> ascending = {-kInf, -most, -1, -tiny, 0, tiny, 1, most, kInf};
  for (std::size_t i = 1; i < ascending.size(); ++i) {
    EXPECT_LT(key_of(static_cast<T>(ascending[i - 1])), key_of(static_cast<T>(ascending[i]))) << i;
  }
  EXPECT_EQ(key_of(static_cast<T>(-0.0)), key_of(static_cast<T>(0.0)));
  for (const double any : {kNan, -kNan}) {
    EXPECT_GT(key_of(static_cast<T>(any)), key_of(static_cast<T>(kInf)));
    EXPECT_EQ(key_of(static_cast<T>(any)), key_of(static_cast<T>(kNan))) << "whatever its sign";
  }
}

}  // namespace

TEST(OrderKeys, GrowWithTheValues) {
  expect_keys_grow<double>(0x1p-1074, std::numeric_limits<double>::max());
  expect_keys_grow<float>(0x1p-149, double(std::numeric_limits<float>::max()));
  expect_keys_grow<half>(0x1p-24, 65504);
  expect_keys_grow<bfloat16>(0x1p-133, 0x1.FEp127);
}

TEST(OrderKeys, IntegersAreTheirOwn) {
  EXPECT_EQ(key_of(std::int8_t{-128}), -128);
  EXPECT_EQ(key_of(std::numeric_limits<std::int64_t>::max()),
            std::numeric_limits<std::int64_t>::max());
}

// fp32 has 24 bits, so 2^24 and 2^24 + 1 become equal.
TEST(OrderKeys, AfterACastToFp32NeighboursAreEqual) {
  const std::int32_t a = 1 << 24, b = a + 1;
  EXPECT_LT(AsIs()(a), AsIs()(b));
  EXPECT_EQ(CastToFp32()(a), CastToFp32()(b));
  EXPECT_LT(CastToFp32()(a), CastToFp32()(a + 2));
}

}  // namespace opbench
