#include "harness/run/numpy_statistics.h"

#include <gtest/gtest.h>

#include <vector>

namespace opbench {

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
