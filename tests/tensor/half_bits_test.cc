#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tensor/half.h"
#include "tensor/parallel.h"
#include "tests/support.h"

namespace opbench {
namespace {

using Halves = std::vector<std::uint16_t>;

constexpr std::uint16_t kInfinity = 0x7C00, kNan = 0x7E00, kLargest = 0x7BFF, kSign = 0x8000;

// IEEE 754 binary16: all exponent bits set is an infinity if the fraction is 0, else a NaN.
std::uint16_t expected_of(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
  if (exponent != 31) return bits;
  if (fraction != 0) return 0;
  return static_cast<std::uint16_t>((bits & kSign) != 0 ? 0xFBFF : 0x7BFF);
}

bool saturate(Halves& halves) { return saturate_fp16(halves.data(), std::ssize(halves)); }

TEST(Saturate, EveryBitPattern) {
  Halves halves(65536), expected(65536);
  for (std::size_t bits = 0; bits < halves.size(); ++bits) {
    halves[bits] = static_cast<std::uint16_t>(bits);
    expected[bits] = expected_of(halves[bits]);
  }
  EXPECT_TRUE(saturate(halves));
  EXPECT_EQ(halves, expected);
  EXPECT_FALSE(saturate(halves)) << "nothing is left to saturate";
  EXPECT_EQ(halves, expected);
}

// The return value states whether this pattern changed. A NaN that becomes 0 counts, -0 does not.
TEST(Saturate, SaysWhetherAnythingChanged) {
  for (std::size_t bits = 0; bits < 65536; ++bits) {
    Halves one = {static_cast<std::uint16_t>(bits)};
    EXPECT_EQ(saturate(one), expected_of(static_cast<std::uint16_t>(bits)) != bits) << bits;
  }
}

TEST(Saturate, EveryPlaceOfEveryLength) {
  for (const std::size_t length : kLengths) {
    Halves halves(length + 1, 0x3C00);
    halves[length] = kInfinity;  // one element after the end
    EXPECT_FALSE(saturate_fp16(halves.data(), static_cast<std::int64_t>(length)));
    EXPECT_EQ(halves[length], kInfinity);
    if (length == 0) continue;
    for (const std::size_t place : {std::size_t{0}, length / 2, length - 1}) {
      Halves expected = halves;
      halves[place] = kSign | kInfinity;
      expected[place] = kSign | kLargest;
      EXPECT_TRUE(saturate_fp16(halves.data(), static_cast<std::int64_t>(length)));
      EXPECT_EQ(halves, expected) << length << " " << place;
      halves[place] = 0x3C00;
    }
  }
}

// Several threads share the work. A thread without a change must not reset the result of another.
TEST(Saturate, OneInManyRanges) {
  constexpr std::size_t kMany = 5 * 32 * 1024 + 7;
  for (const std::size_t place : {std::size_t{0}, kMany / 2, kMany - 1}) {
    Halves halves(kMany, 0x0001);
    halves[place] = kNan;
    bool any = false;
    with_threads(2, [&] { any = saturate(halves); });
    EXPECT_TRUE(any);
    EXPECT_EQ(halves[place], 0);
    halves[place] = 0x0001;
    EXPECT_EQ(halves, Halves(kMany, 0x0001));
  }
}

TEST(Saturate, OneValue) {
  EXPECT_EQ(saturated_fp16(0x7C00), 0x7BFF) << "Inf";
  EXPECT_EQ(saturated_fp16(0xFC00), 0xFBFF) << "-Inf";
  EXPECT_EQ(saturated_fp16(0x7E00), 0) << "NaN";
  EXPECT_EQ(saturated_fp16(0xFE01), 0) << "-NaN";
  for (const std::uint16_t bits : {0x0000, 0x8000, 0x0001, 0x3C00, 0x7BFF, 0xFBFF}) {
    EXPECT_EQ(saturated_fp16(bits), bits);
  }
}

}  // namespace
}  // namespace opbench
