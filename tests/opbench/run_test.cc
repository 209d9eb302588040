#include "opbench/run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tensor/error.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

TEST(TimeFunction, KeepsEveryRepetition) {
  int calls = 0, threads = 0;
  const FunctionTiming timing = time_function(
      [&] {
        ++calls;
        threads = thread_count();
      },
      {.threads = 1, .seconds = 0.001, .repetitions = 5});
  ASSERT_EQ(timing.samples_us.size(), 5U);
  EXPECT_GE(calls, 5);
  EXPECT_EQ(threads, 1);
  std::vector<double> sorted = timing.samples_us;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(timing.median_us, sorted[2]);
  EXPECT_EQ(timing.min_us, sorted[0]);
  EXPECT_EQ(timing.copy_share, 0) << "without bytes there is no rate";
}

TEST(TimeFunction, RatesAreThoseOfTheBytes) {
  const FunctionTiming timing =
      time_function([] {}, {.bytes = 4096, .threads = 1, .seconds = 0.001, .repetitions = 3});
  EXPECT_DOUBLE_EQ(timing.gb_per_s, 4096 / (1e3 * timing.median_us));
  EXPECT_GT(timing.copy_gb_per_s, 0);
  EXPECT_DOUBLE_EQ(timing.copy_share, timing.gb_per_s / timing.copy_gb_per_s);
}

TEST(TimeFunction, RefusesWhatCannotBeMeasured) {
  EXPECT_THROW(time_function([] {}, {.repetitions = 0}), Error);
  EXPECT_THROW(time_function([] {}, {.threads = -1}), Error);
  EXPECT_THROW(time_function([] {}, {.seconds = 0}), Error);
}

}  // namespace
}  // namespace opbench
