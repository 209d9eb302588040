#include "harness/run/timing.h"

#include <gtest/gtest.h>

namespace opbench {

// Times are not tested; counts must be consistent.
TEST(Timing, KeepsEveryRepetitionInItsOrder) {
  std::int64_t calls = 0;
  const std::vector<Sample> samples = time_calls("x", {0.003, 3, {}}, [&] { ++calls; });
  ASSERT_EQ(samples.size(), 3u);
  std::int64_t kept = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Sample& sample = samples[i];
    EXPECT_GE(sample.iterations, 1);
    EXPECT_NEAR(sample.duration_us * 1e3,
                sample.ns_per_call * static_cast<double>(sample.iterations),
                1e-6 * sample.duration_us * 1e3);
    if (i > 0) {
      EXPECT_GE(sample.start_us, samples[i - 1].start_us + samples[i - 1].duration_us);
    }
    kept += sample.iterations;
  }
  EXPECT_GE(calls, kept) << "the search for the number of calls is not kept";
}

TEST(Timing, CachesAreEmptiedBeforeEveryCall) {
  std::int64_t calls = 0, evictions = 0;
  TimingOptions options{0.001, 2, {}};
  options.evict = [&] {
    EXPECT_EQ(evictions, calls);
    ++evictions;
  };
  ASSERT_EQ(time_calls("x", options, [&] { ++calls; }).size(), 2u);
  EXPECT_EQ(evictions, calls);
}

TEST(Timing, EvictionLeavesTheData) {
  std::vector<int> data(1000, 7);
  evict_from_caches(data.data(), data.size() * sizeof(int));
  evict_from_caches(nullptr, 0);
  EXPECT_EQ(data, std::vector<int>(1000, 7));
}

}  // namespace opbench
