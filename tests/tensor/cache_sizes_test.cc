#include "tensor/cache_sizes.h"

#include <gtest/gtest.h>

namespace opbench {

TEST(CacheSizes, AreWhatTheMachineTells) {
  const long own = sysconf(_SC_LEVEL2_CACHE_SIZE), last = sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (own > 0) {
    EXPECT_EQ(own_cache_bytes(), static_cast<std::size_t>(own));
  }
  const long first = sysconf(_SC_LEVEL1_DCACHE_SIZE);
  if (first > 0) {
    EXPECT_EQ(first_cache_bytes(), static_cast<std::size_t>(first));
  }
  if (last > 0) {
    EXPECT_GE(last_level_cache_bytes(), static_cast<std::size_t>(last));
  }
}

// Kernels cut their work by them: 0 would cut it into nothing.
TEST(CacheSizes, AreNeverNothing) {
  EXPECT_GE(own_cache_bytes(), std::size_t{64} << 10);
  EXPECT_GE(last_level_cache_bytes(), own_cache_bytes());
  EXPECT_GE(first_cache_bytes(), std::size_t{4} << 10);
}

}  // namespace opbench
