#include "harness/run/perf_event.h"

#include <gmock/gmock.h>
#include <linux/perf_event.h>
#include <sys/mman.h>

#include <cerrno>
#include <thread>

namespace opbench {
namespace {

constexpr PerfKind kPageFaults = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS};

// Writes to pages that no thread has touched: a fault each.
void touch_new_pages(std::size_t count) {
  constexpr std::size_t kPage = 4096;
  void* const pages =
      mmap(nullptr, count * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  madvise(pages, count * kPage, MADV_NOHUGEPAGE);
  for (std::size_t i = 0; i < count; ++i) static_cast<volatile char*>(pages)[i * kPage] = 1;
  munmap(pages, count * kPage);
}

}  // namespace

TEST(PerfEvent, CountsAllThreadsAndThoseThatTheyStart) {
  PerfEvent faults = PerfEvent::of_threads(kPageFaults);
  if (!faults.is_open()) {
    EXPECT_THAT(perf_refusal(faults.error(), perf_paranoid_level(), 2),
                testing::AnyOf(testing::HasSubstr("paranoid"), testing::HasSubstr("forbids")));
    return;
  }
  faults.take();
  touch_new_pages(100);
  std::thread(touch_new_pages, 50).join();
  const double count = faults.take();
  EXPECT_GE(count, 150);
  EXPECT_LT(count, 5000) << "a new thread has some of its own, with sanitizers hundreds";
  EXPECT_EQ(faults.counted_share(), 1) << "software events never wait for a counter";
  EXPECT_LT(faults.take(), 50) << "counts begin again";
}

TEST(PerfEvent, ARefusalSaysWhatHelps) {
  EXPECT_EQ(perf_refusal(ENOENT, 2, 2),
            "this kernel gives no hardware counters (perf_event_open: No such file or directory); "
            "virtual machines often hide them");
  EXPECT_EQ(perf_refusal(EACCES, 3, 2),
            "kernel.perf_event_paranoid is 3 (perf_event_open: Permission denied): run as root, or "
            "`sysctl kernel.perf_event_paranoid=2`");
  EXPECT_THAT(perf_refusal(EPERM, 2, 2), testing::HasSubstr("containers often do"));
  EXPECT_EQ(PerfEvent::of_threads({0xffff, 0}).error() == 0, false) << "no such type";
}

}  // namespace opbench
