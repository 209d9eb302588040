#include "harness/run/numpy_statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace opbench {

// numpy.sqrt(numpy.arange(n, dtype='f4')).sum() by numpy 1.24; one after the other 100 come to
// 661.463013 and 1001 to 21097.4609.
TEST(NumpyStatistics, SumsPairwise) {
  const auto roots = [](int count) {
    std::vector<float> values;
    for (int i = 0; i < count; ++i) values.push_back(std::sqrt(static_cast<float>(i)));
    return values;
  };
  EXPECT_EQ(pairwise_sum(std::span<const float>(roots(7))), 10.8318224F);
  EXPECT_EQ(pairwise_sum(std::span<const float>(roots(100))), 661.462952F);
  EXPECT_EQ(pairwise_sum(std::span<const float>(roots(1001))), 21097.457F);
}

TEST(NumpyStatistics, PrintsAsNumpyDoes) {
  const std::vector<std::int32_t> whole = {-3, 4, 1};
  const NumpyStatistics found = numpy_statistics(StoredType::i32, whole.data(), 3);
  EXPECT_EQ(found.max, "4");
  EXPECT_EQ(found.min, "-3");
  EXPECT_EQ(found.mean, "0.6666666666666666");
  const std::uint16_t halves[] = {0x7BFF, 0xBC00, 0x7E00};  // 65504, -1, NaN
  EXPECT_EQ(numpy_statistics(StoredType::f16, halves, 2).max, "65500.0");
  EXPECT_EQ(numpy_statistics(StoredType::f16, halves, 2).mean, "32750.0");
  EXPECT_EQ(numpy_statistics(StoredType::f16, halves, 3).max, "nan");
  EXPECT_EQ(numpy_statistics(StoredType::f32, nullptr, 0).mean, "nan");
}

}  // namespace opbench
