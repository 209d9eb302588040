#include "kernels/copy/moved_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/simd/multiply_adds.h"
#include "tensor/buffer.h"
#include "tensor/parallel.h"
#include "tests/support.h"

namespace opbench {
namespace {

// Sizes are around vectors, the unit of four vectors, pages, and several pages a thread.
constexpr std::size_t kSizes[] = {0,   1,    63,   64,   65,   255,  256,   257,
                                  511, 4095, 4096, 4097, 8192, 9000, 40000, 100003};

std::vector<std::uint8_t> bytes_of(const Buffer& memory) {
  const auto* const first = static_cast<const std::uint8_t*>(memory.data());
  return {first, first + memory.size()};
}

void expect_moved(MovingWay way, std::size_t read, std::size_t written) {
  const Buffer memory(read + written);
  const std::vector<std::uint8_t> before = noise(read + written);
  std::memcpy(memory.data(), before.data(), before.size());
  const std::size_t moved =
      move_bytes(way, {static_cast<std::byte*>(memory.data()), read, written});
  EXPECT_TRUE(memory.guards_intact()) << name(way) << ' ' << read << ' ' << written;
  EXPECT_LE(moved, read + written);
  EXPECT_GE(moved + 1100 + (read + written) / 20, read + written) << name(way) << ' ' << read;
  if (way == MovingWay::mixed || way == MovingWay::mixed_stream) return;
  const std::vector<std::uint8_t> after = bytes_of(memory);
  const auto half = static_cast<std::ptrdiff_t>(moved / 2);
  EXPECT_TRUE(std::equal(before.begin(), before.begin() + half, after.begin())) << "only read";
  EXPECT_TRUE(std::equal(before.begin(), before.begin() + half, after.begin() + half))
      << name(way) << ' ' << read + written;
}

}  // namespace

TEST(MovedBytes, OfEverySizeInEveryWay) {
  on_every_isa([] {
    for (const int threads : {1, 2, 3}) {
      with_threads(threads, [] {
        for (const MovingWay way : kMovingWays) {
          for (const std::size_t size : kSizes) {
            if (size == 0) continue;
            expect_moved(way, size, size);
            expect_moved(way, 2 * size, size);
            expect_moved(way, 3 * size, size);
            expect_moved(way, size, 7 * size);
            expect_moved(way, size, 0);
            expect_moved(way, 0, size);
          }
        }
      });
    }
  });
}

// Two inputs of the output's size are read together, and the output is computed from both.
TEST(MovedBytes, MixedReadsWhatItSays) {
  on_every_isa([] {
    for (const int inputs : {2, 3}) {
      constexpr std::size_t kOutput = 16384;
      const std::size_t read = kOutput * static_cast<std::size_t>(inputs);
      const Buffer memory(read + kOutput);
      const std::vector<std::uint8_t> before = noise(memory.size());
      std::memcpy(memory.data(), before.data(), before.size());
      EXPECT_EQ(
          move_bytes(MovingWay::mixed, {static_cast<std::byte*>(memory.data()), read, kOutput}),
          memory.size());
      std::vector<std::uint8_t> expected(kOutput);
      for (std::size_t i = 0; i < read; ++i) expected[i % kOutput] ^= before[i];
      EXPECT_EQ(
          std::memcmp(static_cast<std::uint8_t*>(memory.data()) + read, expected.data(), kOutput),
          0);
    }
  });
}

TEST(MultiplyAdds, CountTwoOperationsForEveryLane) {
  on_every_isa([] {
    EXPECT_GE(multiply_add_operations(false), multiply_add_operations(true));
    EXPECT_EQ(static_cast<std::int64_t>(multiply_add_operations(true)) % 2, 0);
  });
}

// Guards against a past fault: the compiler merged chains with equal starts, and all twelve were
// still counted. The ceiling of arithmetic was 1.5 times the real one.
TEST(MultiplyAdds, EveryChainIsComputed) {
  constexpr double kChain = kMultiplyAddChains, kFirst = kChain * (kChain + 1) / 2;
  on_every_isa([] {
    for (const int threads : {1, 2}) {
      with_threads(threads, [&] {
        for (const bool in_fp64 : {false, true}) {
          EXPECT_EQ(multiply_adds(in_fp64), threads * (kChain * kMultiplyAddRounds + kFirst));
        }
      });
    }
  });
}

}  // namespace opbench
