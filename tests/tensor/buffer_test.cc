#include "tensor/buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "tensor/elements.h"
#include "tensor/error.h"
#include "tensor/parallel.h"
#include "tests/support.h"

namespace opbench {
namespace {

// Sizes for both ways of allocation, and at the limit between them.
constexpr std::size_t kSizes[] = {0, 1, 63, 64, 4097, (1 << 20) - 1, 1 << 20, (3 << 20) + 5};

}  // namespace

TEST(Buffer, IsZeroAlignedAndGuarded) {
  for (const std::size_t bytes : kSizes) {
    const Buffer buffer(bytes);
    const auto data = static_cast<const std::byte*>(buffer.data());
    EXPECT_EQ(buffer.size(), bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 64, 0u) << bytes;
    EXPECT_TRUE(std::all_of(data, data + bytes, [](std::byte b) { return b == std::byte{0}; }));
    EXPECT_TRUE(buffer.guards_intact()) << bytes;
  }
}

TEST(Buffer, LargeOnesStartAtAHugePage) {
  const Buffer buffer(std::size_t{5} << 20);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % (std::size_t{2} << 20), 0u);
}

TEST(Buffer, WritingEveryByteKeepsTheGuards) {
  for (const std::size_t bytes : kSizes) {
    const Buffer buffer(bytes);
    std::fill_n(static_cast<std::byte*>(buffer.data()), bytes, std::byte{0x5A});
    EXPECT_TRUE(buffer.guards_intact()) << bytes;
  }
}

TEST(Buffer, GuardsDetectOneByteOnEachSide) {
  for (const std::size_t bytes : kSizes) {
    const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(bytes);
    const std::ptrdiff_t guard = Buffer::kGuardBytes;
    for (const std::ptrdiff_t at : {std::ptrdiff_t{-1}, -guard, size, size + guard - 1}) {
      const Buffer buffer(bytes);
      static_cast<std::byte*>(buffer.data())[at] = std::byte{0};
      EXPECT_FALSE(buffer.guards_intact()) << bytes << " bytes, written at " << at;
    }
  }
}

// Eight elements that a vector reads too far have one above and one below all data.
TEST(Buffer, GuardsAreExtremeInEveryDtype) {
  constexpr std::size_t kBytes = 64;
  const Buffer buffer(kBytes);
  const std::pair<DType, double> kLarge[] = {
      {DType::fp64, 1e280}, {DType::fp32, 1e36}, {DType::fp16, 65e3}, {DType::bf16, 1e36},
      {DType::int64, 8e18}, {DType::int32, 2e9}, {DType::int16, 3e4}, {DType::int8, 127}};
  for (const auto& [dtype, large] : kLarge) {
    for (const std::ptrdiff_t from :
         {-std::ptrdiff_t{Buffer::kGuardBytes}, std::ptrdiff_t{kBytes}}) {
      std::vector<double> read(32 / size_of(dtype));
      to_doubles(dtype, static_cast<const std::byte*>(buffer.data()) + from, std::ssize(read),
                 read.data());
      const auto nans = std::erase_if(read, [](double value) { return std::isnan(value); });
      const auto [least, most] = std::minmax_element(read.begin(), read.end());
      EXPECT_GE(*most, large) << name(dtype);
      EXPECT_LE(*least, -large) << name(dtype);
      EXPECT_NE(std::accumulate(read.begin(), read.end(), 0.0), 0) << name(dtype);
      EXPECT_EQ(nans > 0, is_floating(dtype)) << name(dtype);
      EXPECT_TRUE(dtype != DType::int8 || std::count(read.begin(), read.end(), 0) > 0) << "false";
    }
  }
}

TEST(Buffer, MovesAndReleases) {
  Buffer a(100), b(std::size_t{2} << 20);
  void* const large = b.data();
  a = std::move(b);
  EXPECT_EQ(a.data(), large);
  EXPECT_EQ(b.data(), nullptr);
  EXPECT_EQ(b.size(), 0u);
  EXPECT_TRUE(b.guards_intact());
  const Buffer c(std::move(a));
  EXPECT_EQ(c.data(), large);
}

TEST(Buffer, ImpossibleSizesThrow) {
  EXPECT_THROW(Buffer{std::numeric_limits<std::size_t>::max()}, RunError);
  EXPECT_THROW(Buffer{std::size_t{1} << 63}, RunError);
  EXPECT_THROW(Buffer{std::size_t{1} << 60}, RunError);  // exceeds every address space in use
}

TEST(Checksum, EveryFlippedBitShows) {
  std::vector<std::uint8_t> data = noise(200);
  const std::uint64_t before = checksum(data.data(), data.size());
  for (std::size_t bit = 0; bit < 8 * data.size(); ++bit) {
    data[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    EXPECT_NE(checksum(data.data(), data.size()), before) << bit;
    data[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
  }
  EXPECT_EQ(checksum(data.data(), data.size()), before);
}

TEST(Checksum, PairsOfFlippedSignsShow) {
  std::vector<std::uint64_t> data(64, 0x3FF0000000000000);
  std::set<std::uint64_t> seen = {checksum(data.data(), 512)};
  for (std::size_t i = 0; i < data.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      data[i] ^= std::uint64_t{1} << 63;
      data[k] ^= std::uint64_t{1} << 63;
      EXPECT_TRUE(seen.insert(checksum(data.data(), 512)).second) << i << " " << k;
      data[i] ^= std::uint64_t{1} << 63;
      data[k] ^= std::uint64_t{1} << 63;
    }
  }
}

TEST(Checksum, LengthCounts) {
  const std::vector<std::uint8_t> zeros(4097);
  std::set<std::uint64_t> seen;
  for (std::size_t bytes = 0; bytes <= zeros.size(); ++bytes) {
    EXPECT_TRUE(seen.insert(checksum(zeros.data(), bytes)).second) << bytes;
  }
}

TEST(Checksum, DependsOnBytesOnly) {
  const std::vector<std::uint8_t> data = noise((5 << 20) + 13);
  std::vector<std::uint8_t> shifted(data.size() + 1);
  std::copy(data.begin(), data.end(), shifted.begin() + 1);
  const std::uint64_t expected = checksum(data.data(), data.size());
  EXPECT_EQ(checksum(shifted.data() + 1, data.size()), expected) << "unaligned";
  for (const int threads : {1, 2, 7}) {
    with_threads(threads, [&] { EXPECT_EQ(checksum(data.data(), data.size()), expected); });
  }
}

TEST(Checksum, SwappedChunksShow) {
  std::vector<std::uint8_t> data = noise(2 << 20);
  const std::uint64_t before = checksum(data.data(), data.size());
  std::swap_ranges(data.begin(), data.begin() + (1 << 20), data.begin() + (1 << 20));
  EXPECT_NE(checksum(data.data(), data.size()), before);
}

}  // namespace opbench
