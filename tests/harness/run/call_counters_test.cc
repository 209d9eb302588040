#include "harness/run/call_counters.h"

#include <gmock/gmock.h>
#include <sys/mman.h>

#include <cmath>

#include "harness/run/timing.h"

namespace opbench {
namespace {

constexpr std::size_t kPage = 4096, kPages = 32;

// A call with a fault for each of 32 pages.
void touch(char* pages) {
  madvise(pages, kPages * kPage, MADV_DONTNEED);
  for (std::size_t i = 0; i < kPages; ++i) static_cast<volatile char*>(pages)[i * kPage] = 1;
}

class CallCountersTest : public testing::TestWithParam<bool> {};

// Neither the warm-up nor what happens between the calls counts.
TEST_P(CallCountersTest, TimedCallsOnly) {
  const bool is_cold = GetParam();
  CallCounters counters(false);
  auto* pages = static_cast<char*>(mmap(nullptr, 2 * kPages * kPage, PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  madvise(pages, 2 * kPages * kPage, MADV_NOHUGEPAGE);
  TimingOptions options{0.01, 3, {}};
  options.counters = &counters;
  if (is_cold) options.evict = [&] { touch(pages + kPages * kPage); };
  options.more = [](std::span<const Sample> samples) { return samples.size() < 5 ? 2 : 0; };
  const std::vector<Sample> samples = time_calls("x", options, [&] { touch(pages); });
  munmap(pages, 2 * kPages * kPage);
  ASSERT_EQ(samples.size(), 5u);
  std::int64_t calls = 0;
  for (const Sample& sample : samples) calls += sample.iterations;
  const Counts total = counters.total();
  EXPECT_EQ(total.calls, calls);
  const Counts call = total.per_call();
  if (std::isnan(call[Counter::page_faults])) {
    EXPECT_THAT(CallCounters::refusals(), testing::Contains(testing::HasSubstr("page_faults")));
    return;
  }
  EXPECT_NEAR(call[Counter::page_faults], kPages, 2);
  EXPECT_GT(call[Counter::cpu_us], 0);
  EXPECT_TRUE(std::isnan(call[Counter::energy_j]));
}

INSTANTIATE_TEST_SUITE_P(HotAndCold, CallCountersTest, testing::Bool());

}  // namespace

TEST(CallCounters, ThrottledSamplesThatAreTakenAgainDoNotCount) {
  CallCounters counters(false);
  TimingOptions options{0.001, 4, {}};
  options.counters = &counters;
  int asked = 0;
  options.was_throttled = [&] { return ++asked % 3 == 0; };
  const std::vector<Sample> samples = time_calls("x", options, [] {});
  std::int64_t calls = 0;
  for (const Sample& sample : samples) calls += sample.iterations;
  EXPECT_EQ(counters.total().calls, calls);
}

}  // namespace opbench
