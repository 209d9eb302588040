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

TEST(Timing, MoreSamplesAreTakenWithAsManyCalls) {
  WarmUp warm_up;
  TimingOptions options{0.001, 2, {}};
  options.warm_up = &warm_up;
  options.more = [](std::span<const Sample> samples) { return samples.size() < 7 ? 3 : 0; };
  std::int64_t calls = 0;
  const std::vector<Sample> samples = time_calls("x", options, [&] { ++calls; });
  ASSERT_EQ(samples.size(), 8u);
  std::int64_t kept = 0;
  for (const Sample& sample : samples) {
    kept += sample.iterations;
    EXPECT_EQ(sample.iterations, samples[0].iterations);
  }
  EXPECT_EQ(warm_up.calls, calls - kept);
  EXPECT_GT(warm_up.first_us, 0);
}

TEST(Timing, ThrottledSamplesAreTakenAgainAFewTimes) {
  TimingOptions options{0.001, 4, {}};
  std::int64_t retaken = 0;
  int begun = 0;
  bool is_hot = true;
  options.retaken = &retaken;
  options.before_sample = [&] { ++begun; };
  options.was_throttled = [&] { return is_hot || begun % 2 == 0; };
  EXPECT_EQ(time_calls("x", options, [] {}).size(), 4u);
  EXPECT_EQ(retaken, 4) << "it ends, although the clock stays reduced";
  is_hot = false;
  retaken = 0;
  for (const Sample& sample : time_calls("x", options, [] {})) EXPECT_FALSE(sample.is_throttled);
  EXPECT_GE(retaken, 2) << "every other sample was throttled";
}

TEST(Timing, EvictionLeavesTheData) {
  std::vector<int> data(1000, 7);
  evict_from_caches(data.data(), data.size() * sizeof(int));
  evict_from_caches(nullptr, 0);
  EXPECT_EQ(data, std::vector<int>(1000, 7));
}

}  // namespace opbench
