#include "tensor/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "tensor/error.h"

namespace opbench {
namespace {

using Ranges = std::set<std::pair<std::int64_t, std::int64_t>>;

Ranges cut(std::int64_t count, std::int64_t grain) {
  Ranges ranges;
  std::mutex mutex;
  parallel_ranges(count, grain, [&](std::int64_t begin, std::int64_t end) {
    const std::lock_guard lock(mutex);
    EXPECT_TRUE(ranges.emplace(begin, end).second);
  });
  return ranges;
}

}  // namespace

TEST(Parallel, ThreadCountIsThatOfTheEnclosingCall) {
  EXPECT_GE(available_cores(), 1);
  EXPECT_EQ(thread_count(), available_cores());
  for (const int threads : {1, 2, 3, 7}) {
    with_threads(threads, [&] {
      EXPECT_EQ(thread_count(), threads);
      with_threads(2, [] { EXPECT_EQ(thread_count(), 2); });
      EXPECT_EQ(thread_count(), threads);
    });
  }
  EXPECT_THROW(with_threads(0, [] {}), Error);
}

TEST(Parallel, RangesCoverEverythingOnceInMultiplesOfTheGrain) {
  for (const int threads : {1, 2, 7}) {
    with_threads(threads, [&] {
      for (const std::int64_t count : {0, 1, 5, 16, 17, 100, 1000}) {
        for (const std::int64_t grain : {1, 4, 16, 2000}) {
          const Ranges ranges = cut(count, grain);
          EXPECT_LE(std::ssize(ranges), threads);
          std::int64_t next = 0;
          for (const auto& [begin, end] : ranges) {
            EXPECT_EQ(begin, next);
            EXPECT_LT(begin, end);
            EXPECT_TRUE(end == count || (end - begin) % grain == 0);
            next = end;
          }
          EXPECT_EQ(next, count);
        }
      }
    });
  }
}

TEST(Parallel, RangesAreBalanced) {
  with_threads(4, [] {
    EXPECT_EQ(cut(10, 1), (Ranges{{0, 3}, {3, 6}, {6, 8}, {8, 10}}));
    EXPECT_EQ(cut(10, 4), (Ranges{{0, 4}, {4, 8}, {8, 10}}));
  });
}

TEST(Parallel, RangesRunAtTheSameTime) {
  for (const int threads : {2, 4}) {
    std::atomic<int> inside = 0;
    std::atomic<bool> met = true;
    with_threads(threads, [&] {
      parallel_ranges(threads, 1, [&](std::int64_t, std::int64_t) {
        ++inside;
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (inside < threads && met) {
          std::this_thread::yield();
          met = std::chrono::steady_clock::now() < deadline;
        }
      });
    });
    EXPECT_TRUE(met) << threads << " threads never met";
  }
}

TEST(Parallel, BlocksCoverEverythingOnce) {
  for (const int threads : {1, 2, 7}) {
    with_threads(threads, [&] {
      for (const std::int64_t count : {0, 1, 2, 1000}) {
        std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
        parallel_blocks(count, [&](std::int64_t i) { ++seen[static_cast<std::size_t>(i)]; });
        for (const auto& times : seen) EXPECT_EQ(times, 1);
      }
    });
  }
}

TEST(Parallel, ExceptionsPropagate) {
  for (const int threads : {1, 3}) {
    with_threads(threads, [] {
      EXPECT_THROW(parallel_blocks(100,
                                   [](std::int64_t i) {
                                     if (i == 57) throw Error("57");
                                   }),
                   Error);
      EXPECT_THROW(parallel_ranges(100, 1, [](std::int64_t, std::int64_t) { throw Error("all"); }),
                   Error);
    });
    EXPECT_THROW(with_threads(threads, [] { throw Error("work"); }), Error);
  }
}

}  // namespace opbench
