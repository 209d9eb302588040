#include "harness/run/copy_rate.h"

#include <gtest/gtest.h>

namespace opbench {

TEST(CopyRate, OfAnySizeHotAndCold) {
  for (const std::size_t bytes : {0, 1, 100, 1 << 20}) {
    for (const bool cold : {false, true}) {
      const CopyRate rate = measure_copy_rate(bytes, 2, {0.001, 3, {}}, cold);
      EXPECT_GT(rate.median, 0) << bytes;
      EXPECT_GE(rate.best, rate.median) << bytes;
    }
  }
}

}  // namespace opbench
