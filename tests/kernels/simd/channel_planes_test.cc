#include "kernels/simd/channel_planes.h"

#include <gtest/gtest.h>

#include <atomic>

namespace opbench {
namespace {

ChannelPlanes planes_of(std::int64_t outer, std::int64_t channels) {
  return {DType::fp32, ChannelView{.outer = outer, .channels = channels, .inner = 9}, true};
}

// The planes and blocks that were visited.
struct Seen {
  std::vector<std::atomic<int>> reduced, applied, finished;

  explicit Seen(const ChannelPlanes& x)
      : reduced(static_cast<std::size_t>(x.count())),
        applied(static_cast<std::size_t>(x.count())),
        finished(static_cast<std::size_t>(x.planes)) {}
};

void expect_every_plane_once(const ChannelPlanes& x, std::size_t bytes) {
  Seen seen(x);
  std::atomic<int> early = 0;
  const auto block_of = [&](std::int64_t plane) {
    return static_cast<std::size_t>(plane % x.planes);
  };
  TwoPasses(x, bytes).run(
      [&](std::int64_t first, std::int64_t last) {
        for (; first < last; ++first) {
          if (seen.finished[block_of(first)] != 0) ++early;
          ++seen.reduced[static_cast<std::size_t>(first)];
        }
      },
      [&](std::int64_t block) {
        for (std::int64_t n = 0; n < x.outer; ++n) {
          if (seen.reduced[static_cast<std::size_t>(n * x.planes + block)] != 1) ++early;
        }
        ++seen.finished[static_cast<std::size_t>(block)];
      },
      [&](std::int64_t first, std::int64_t last) {
        for (; first < last; ++first) {
          if (seen.finished[block_of(first)] != 1) ++early;
          ++seen.applied[static_cast<std::size_t>(first)];
        }
      });
  EXPECT_EQ(early, 0);
  for (const auto* counts : {&seen.reduced, &seen.applied, &seen.finished}) {
    for (const std::atomic<int>& count : *counts) EXPECT_EQ(count, 1);
  }
}

}  // namespace

TEST(TwoPasses, EveryPlaneOnceInOrder) {
  // Plane sizes of which the cache holds all planes, some blocks, or not even one plane.
  for (const std::size_t bytes : {std::size_t{64}, own_cache_bytes() / 10, own_cache_bytes()}) {
    for (const int threads : {1, 2, 3}) {
      for (const std::int64_t outer : {0, 1, 2, 5}) {
        for (const std::int64_t channels : {1, 16, 17, 48, 112, 113}) {
          SCOPED_TRACE(testing::Message() << bytes << " bytes, " << threads << " threads, " << outer
                                          << "x" << channels);
          with_threads(threads,
                       [&] { expect_every_plane_once(planes_of(outer, channels), bytes); });
        }
      }
    }
  }
}

}  // namespace opbench
