#include "ops/order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace opbench {
namespace {

template <class T>
class Order : public testing::Test {};
using Floating = testing::Types<float, double, half, bfloat16>;
TYPED_TEST_SUITE(Order, Floating);

}  // namespace

// The order is that of torch.sort: NaN is the greatest and equal to itself, and both zeros are
// equal.
TYPED_TEST(Order, PutsNanLast) {
  const auto nan = TypeParam(std::numeric_limits<float>::quiet_NaN());
  const auto inf = TypeParam(std::numeric_limits<float>::infinity());
  const auto one = TypeParam(1.0F), two = TypeParam(2.0F);
  EXPECT_TRUE(is_less(one, two));
  EXPECT_FALSE(is_less(two, one));
  EXPECT_FALSE(is_less(one, one));
  EXPECT_TRUE(is_less(inf, nan));
  EXPECT_FALSE(is_less(nan, inf));
  EXPECT_FALSE(is_less(nan, nan));
  EXPECT_FALSE(is_less(TypeParam(-0.0F), TypeParam(0.0F)));
  EXPECT_FALSE(is_less(TypeParam(0.0F), TypeParam(-0.0F)));
}

// Every ordered dtype has a C++ type of its size. bool and the dtypes after it are not ordered
// dtypes.
TEST(OrderedDTypes, AreVisitedByTheirTypes) {
  for (const DType dtype : kAllDTypes) {
    const bool is_ordered =
        std::find(kOrderedDTypes.begin(), kOrderedDTypes.end(), dtype) != kOrderedDTypes.end();
    EXPECT_EQ(is_ordered, dtype < DType::boolean) << name(dtype);
    if (!is_ordered) continue;
    EXPECT_EQ(visit_ordered(dtype, [](auto value) { return sizeof value; }), size_of(dtype));
  }
  EXPECT_TRUE(visit_ordered(DType::uint8, [](auto value) { return decltype(value)(255) > 0; }));
  EXPECT_FALSE(visit_ordered(DType::int8, [](auto value) { return decltype(value)(255) > 0; }));
}

}  // namespace opbench
