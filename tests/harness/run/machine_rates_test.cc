#include "harness/run/machine_rates.h"

#include <gtest/gtest.h>

namespace opbench {

TEST(CopyRate, OfAnySizeHotAndCold) {
  for (const std::size_t bytes : {0, 1, 100, 1 << 20}) {
    for (const bool cold : {false, true}) {
      const CopyRate rate = measure_copy_rate({bytes, bytes / 3}, 2, {0.001, 3, {}, nullptr}, cold);
      EXPECT_GT(rate.median, 0) << bytes;
      EXPECT_GE(rate.best, rate.median) << bytes;
      EXPECT_NE(rate.way, "") << bytes;
    }
  }
}

TEST(CopyRate, FewBytesAreNoMoreThanACall) {
  const TimingOptions brief{0.001, 3, {}, nullptr};
  bool is_latency = false;  // other programs may make one of two calls take twice the time
  for (int i = 0; i < 10 && !is_latency; ++i) {
    is_latency = measure_copy_rate({16, 16}, 1, brief, false).is_latency;
  }
  EXPECT_TRUE(is_latency);
  EXPECT_FALSE(measure_copy_rate({1 << 21, 1 << 21}, 1, brief, false).is_latency);
}

TEST(PeakRate, OfFloatingTypes) {
  const double single = peak_operations_per_second(DType::fp32, 1);
  EXPECT_GT(single, 0);
  EXPECT_EQ(peak_operations_per_second(DType::fp32, 1), single) << "measured once";
  EXPECT_EQ(peak_operations_per_second(DType::fp16, 1), single) << "computed in fp32";
  EXPECT_GT(peak_operations_per_second(DType::fp64, 1), 0);
  EXPECT_EQ(peak_operations_per_second(DType::int32, 1), 0);
}

}  // namespace opbench
