// Tests the number of bytes from which results are streamed past the caches. It is measured, given
// by the user, or set by a test.
#include "kernels/simd/streaming.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "kernels/simd/elementwise.h"
#include "tensor/parallel.h"
#include "tensor/processor.h"
#include "tests/support.h"

namespace opbench {
namespace {

Problem relu_of(std::size_t bytes) {
  const auto elements = static_cast<std::int64_t>(bytes / 2 / sizeof(float));
  const Op& op = find_op("relu");
  return make_problem(op, {describe(DType::fp32, {elements})}, Attrs(op.attrs));
}

TEST(Streaming, BeginsBetweenTheOwnCachesAndTheLast) {
  for (const int threads : {1, 2}) {
    with_threads(threads, [&] {
      const std::size_t bytes = streams_from_bytes();
      const std::size_t own = own_cache_bytes() * static_cast<std::size_t>(threads) * 5 / 4;
      EXPECT_GE(bytes, own);
      EXPECT_LE(bytes, std::max(own, last_level_cache_bytes()));
      EXPECT_EQ(streams_from_bytes(), bytes) << "measured once";
    });
  }
}

// Threads that spin on every core stand for other programs. No other test uses this number of
// threads.
TEST(Streaming, ABusyMachineGoesByItsCaches) {
  std::atomic<bool> is_done{false};
  std::vector<std::jthread> busy;
  for (int i = 0; i < 3 * available_cores(); ++i) {
    busy.emplace_back([&] {
      while (!is_done) {
      }
    });
  }
  const int threads = available_cores() + 1;
  StreamingSize size{};
  with_threads(threads, [&] { size = streaming_size(); });
  is_done = true;
  EXPECT_EQ(size.source, StreamingSource::caches);
  const std::size_t own = own_cache_bytes() * static_cast<std::size_t>(threads) * 5 / 4;
  const auto cores = static_cast<std::size_t>(available_cores());
  EXPECT_EQ(size.bytes, std::max(own, last_level_cache_bytes() / cores * cores));
}

TEST(Streaming, ChildrenAreToldTheSize) {
  const ScopedStreamsFrom known(12345);
  tell_children_streams_from();
  EXPECT_STREQ(std::getenv("OPBENCH_STREAM_FROM"), "12345");
  unsetenv("OPBENCH_STREAM_FROM");
}

TEST(Streaming, CallsBeyondBothLimitsOutgrowTheCache) {
  with_threads(1, [] {
    const std::size_t own = own_cache_bytes() * 5 / 4;
    {
      const ScopedStreamsFrom early(0);
      EXPECT_FALSE(outgrows_cache(relu_of(own)));
      EXPECT_TRUE(outgrows_cache(relu_of(own + 64)));
    }
    const ScopedStreamsFrom late(3 * own);
    EXPECT_FALSE(outgrows_cache(relu_of(3 * own)));
    EXPECT_TRUE(outgrows_cache(relu_of(3 * own + 64)));
  });
}

TEST(Streaming, TheEnvironmentIsReadStrictly) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a new process without measurements
  for (const char* text : {"", "x", "12x", "-1", "1e6", "99999999999999999999999"}) {
    EXPECT_EXIT(
        {
          setenv("OPBENCH_STREAM_FROM", text, 1);
          try {
            streams_from_bytes();
          } catch (const std::exception& error) {
            std::fputs(error.what(), stderr);
            std::_Exit(3);
          }
          std::_Exit(0);
        },
        testing::ExitedWithCode(3), "OPBENCH_STREAM_FROM: expected a number of bytes, found '");
  }
}

}  // namespace
}  // namespace opbench
