#include "tensor/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/support.h"

namespace opbench {
namespace {

using Bits = std::uint16_t;

constexpr float kInf = std::numeric_limits<float>::infinity();

Bits bits_of(half value) { return Eigen::numext::bit_cast<Bits>(value); }
Bits bits_of(bfloat16 value) { return Eigen::numext::bit_cast<Bits>(value); }

/// The definitions of IEEE 754 binary16 and of bfloat16, in plain arithmetic.
double value_of_half(Bits bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const double sign = bits >> 15 ? -1 : 1;
  if (exponent == 31) return mantissa ? std::nan("") : sign * kInf;
  return sign *
         (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25));
}

float value_of_bfloat16(Bits bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

template <class T>
std::vector<T> all_values() {
  std::vector<T> values;
  for (int bits = 0; bits <= 0xFFFF; ++bits) {
    values.push_back(Eigen::numext::bit_cast<T>(static_cast<Bits>(bits)));
  }
  return values;
}

/// Inputs and their expected bits.
struct Roundings {
  std::vector<float> values;
  std::vector<Bits> expected;

  void add(float value, Bits bits) {
    values.push_back(value);
    expected.push_back(bits);
    values.push_back(-value);
    expected.push_back(static_cast<Bits>(bits | 0x8000));
  }
};

/// For every finite half and its successor: their midpoint, which rounds to even, and the floats
/// next to the midpoint. The successor of 65504 counts as 65536 and overflows to Inf.
Roundings half_boundaries(Bits overflow) {
  Roundings result;
  for (Bits bits = 0; bits < 0x7C00; ++bits) {
    const bool last = bits == 0x7BFF;
    const Bits above = last ? overflow : static_cast<Bits>(bits + 1);
    const double next = last ? 65536 : value_of_half(above);
    const float middle = static_cast<float>((value_of_half(bits) + next) / 2);
    result.add(middle, bits % 2 == 0 ? bits : above);
    result.add(std::nextafter(middle, 0.0f), bits);
    result.add(std::nextafter(middle, kInf), above);
  }
  return result;
}

Roundings bfloat16_boundaries() {
  Roundings result;
  for (Bits bits = 0; bits < 0x7F80; ++bits) {
    const Bits above = static_cast<Bits>(bits + 1);  // Inf after the largest
    const float middle = std::bit_cast<float>(std::uint32_t{bits} << 16 | 0x8000);
    result.add(middle, bits % 2 == 0 ? bits : above);
    result.add(std::nextafter(middle, 0.0f), bits);
    result.add(std::nextafter(middle, kInf), above);
  }
  return result;
}

/// Floats of every kind: every 4099th bit pattern. 4099 is odd, so all exponents and tails occur.
std::vector<float> float_sweep() {
  std::vector<float> values;
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += 4099) {
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  return values;
}

template <class T, class Scalar, class... Mode>
void expect_bulk_is_scalar(const std::vector<float>& values, Scalar scalar, Mode... mode) {
  std::vector<T> bulk(values.size());
  narrow(values.data(), bulk.data(), values.size(), mode...);
  std::size_t differing = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (bits_of(bulk[i]) != bits_of(scalar(values[i], mode...))) ++differing;
  }
  EXPECT_EQ(differing, 0u);
}

template <class T>
void expect_lengths_and_alignments() {
  const std::vector<float> values = float_sweep();
  for (const std::size_t length : kLengths) {
    std::vector<T> narrowed(length + 3, T(7.0f));
    narrow(values.data() + 1, narrowed.data() + 1, length);
    std::vector<float> widened(length + 3, 7.0f);
    widen(narrowed.data() + 1, widened.data() + 1, length);
    EXPECT_EQ(float(narrowed[0]), 7.0f);
    EXPECT_EQ(float(narrowed[length + 1]), 7.0f);
    EXPECT_EQ(widened[0], 7.0f);
    EXPECT_EQ(widened[length + 1], 7.0f);
    for (std::size_t i = 1; i <= length; ++i) {
      T expected;
      narrow(values.data() + i, &expected, 1);
      ASSERT_EQ(bits_of(narrowed[i]), bits_of(expected));
      ASSERT_EQ(widened[i], static_cast<float>(expected));
    }
  }
}

}  // namespace

TEST(Half, WidenMatchesTheDefinition) {
  on_every_isa([] {
    const std::vector<half> halves = all_values<half>();
    std::vector<float> widened(halves.size());
    widen(halves.data(), widened.data(), halves.size());
    for (std::size_t i = 0; i < halves.size(); ++i) {
      const double expected = value_of_half(static_cast<Bits>(i));
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(widened[i])) << i;
      } else {
        ASSERT_EQ(widened[i], expected) << i;
        ASSERT_EQ(std::signbit(widened[i]), i >= 0x8000) << i;
      }
    }
  });
}

TEST(Half, AllHalvesRoundTrip) {
  on_every_isa([] {
    const std::vector<half> halves = all_values<half>();
    std::vector<float> widened(halves.size());
    std::vector<half> ieee(halves.size()), saturated(halves.size());
    widen(halves.data(), widened.data(), halves.size());
    narrow(widened.data(), ieee.data(), halves.size(), HalfMode::ieee);
    narrow(widened.data(), saturated.data(), halves.size(), HalfMode::saturate);
    for (std::size_t i = 0; i < halves.size(); ++i) {
      const Bits bits = static_cast<Bits>(i), magnitude = bits & 0x7FFF, sign = bits & 0x8000;
      const bool nan = magnitude > 0x7C00, inf = magnitude == 0x7C00;
      ASSERT_EQ(bits_of(ieee[i]), nan ? bits | 0x200 : bits) << i;
      ASSERT_EQ(bits_of(saturated[i]), nan ? 0 : inf ? sign | 0x7BFF : bits) << i;
    }
  });
}

TEST(Half, RoundsToNearestEvenAtEveryBoundary) {
  for (const HalfMode mode : {HalfMode::ieee, HalfMode::saturate}) {
    const Roundings cases = half_boundaries(mode == HalfMode::ieee ? 0x7C00 : 0x7BFF);
    on_every_isa([&] {
      std::vector<half> bulk(cases.values.size());
      narrow(cases.values.data(), bulk.data(), bulk.size(), mode);
      for (std::size_t i = 0; i < bulk.size(); ++i) {
        ASSERT_EQ(bits_of(bulk[i]), cases.expected[i]) << cases.values[i];
        ASSERT_EQ(bits_of(to_half(cases.values[i], mode)), cases.expected[i]) << cases.values[i];
      }
    });
  }
}

TEST(Half, FromDoubleRoundsOnce) {
  for (Bits bits = 0; bits < 0x7C00; ++bits) {
    const Bits above = static_cast<Bits>(bits + 1);
    const double next = bits == 0x7BFF ? 65536 : value_of_half(above);
    const double middle = (value_of_half(bits) + next) / 2;
    ASSERT_EQ(bits_of(round_to_half(middle)), bits % 2 == 0 ? bits : above) << middle;
    ASSERT_EQ(bits_of(round_to_half(std::nextafter(middle, 0.0))), bits) << middle;
    ASSERT_EQ(bits_of(round_to_half(std::nextafter(middle, 1e9))), above) << middle;
    ASSERT_EQ(bits_of(round_to_half(-std::nextafter(middle, 1e9))), above | 0x8000) << middle;
  }
}

// 1 + 2^-11 is the midpoint of two halves. A number that is 2^-40 larger must round up, but fp32
// loses the difference.
TEST(Half, FromDoubleAvoidsTheDoubleRoundingTrap) {
  const double trap = 1 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(bits_of(to_half(static_cast<float>(trap))), 0x3C00) << "the trap itself";
  EXPECT_EQ(bits_of(round_to_half(trap)), 0x3C01);
  const double bfloat16_trap = 1 + 0x1p-8 + 0x1p-40;
  EXPECT_EQ(bits_of(to_bfloat16(static_cast<float>(bfloat16_trap))), 0x3F80);
  EXPECT_EQ(bits_of(round_to_bfloat16(bfloat16_trap)), 0x3F81);
}

TEST(Half, FromDoubleExtremes) {
  EXPECT_EQ(bits_of(round_to_half(1e300)), 0x7C00);
  EXPECT_EQ(bits_of(round_to_half(-1e300)), 0xFC00);
  EXPECT_EQ(bits_of(round_to_half(1e-300)), 0x0000);
  EXPECT_EQ(bits_of(round_to_half(-1e-300)), 0x8000);
  EXPECT_EQ(bits_of(round_to_half(-0.0)), 0x8000);
  EXPECT_EQ(bits_of(round_to_half(double(kInf))), 0x7C00);
  EXPECT_TRUE(std::isnan(float(round_to_half(std::nan("")))));
  EXPECT_TRUE(std::isnan(float(round_to_bfloat16(std::nan("")))));
  EXPECT_EQ(bits_of(round_to_bfloat16(1e300)), 0x7F80);
  EXPECT_EQ(bits_of(round_to_bfloat16(double(std::numeric_limits<float>::max()))), 0x7F80);
}

// 65520 is the midpoint of 65504 and 65536. 65519.996 is the float below it.
TEST(Half, OverflowBoundary) {
  EXPECT_EQ(bits_of(to_half(65519.996f)), 0x7BFF);
  EXPECT_EQ(bits_of(to_half(65520.0f)), 0x7C00);
  EXPECT_EQ(bits_of(to_half(-65520.0f)), 0xFC00);
  EXPECT_EQ(bits_of(to_half(3e38f)), 0x7C00);
  for (const float value : {65519.996f, 65520.0f, 1e6f, 3e38f, kInf}) {
    EXPECT_EQ(bits_of(to_half(value, HalfMode::saturate)), 0x7BFF) << value;
    EXPECT_EQ(bits_of(to_half(-value, HalfMode::saturate)), 0xFBFF) << value;
  }
  EXPECT_EQ(bits_of(to_half(-std::nanf(""), HalfMode::saturate)), 0) << "+0, whatever the sign";
}

TEST(Half, SubnormalsAreKept) {
  EXPECT_EQ(bits_of(to_half(0x1p-24f)), 0x0001);
  EXPECT_EQ(bits_of(to_half(0x1p-25f)), 0x0000) << "tie to even";
  EXPECT_EQ(bits_of(to_half(0x1.000002p-25f)), 0x0001);
  EXPECT_EQ(bits_of(to_half(-0x1p-26f)), 0x8000);
  EXPECT_EQ(bits_of(to_half(0x1.ff8p-15f)), 0x03FF);
  EXPECT_EQ(bits_of(to_half(0x1.ffcp-15f)), 0x0400) << "tie to the least normal";
  EXPECT_EQ(bits_of(to_half(1e-45f)), 0x0000) << "fp32 subnormal";
}

TEST(Half, NanStaysNanWhateverItsPayload) {
  on_every_isa([] {
    for (const std::uint32_t bits :
         {0x7F800001u, 0x7FA00000u, 0x7FC00000u, 0xFF800001u, 0x7FFFFFFFu}) {
      const float value = std::bit_cast<float>(bits);
      const std::vector<float> values(40, value);
      std::vector<half> halves(40);
      std::vector<bfloat16> bfloats(40);
      narrow(values.data(), halves.data(), 40);
      narrow(values.data(), bfloats.data(), 40);
      for (const half h : halves) EXPECT_GT(bits_of(h) & 0x7FFF, 0x7DFF) << "quiet";
      for (const bfloat16 b : bfloats) EXPECT_GT(bits_of(b) & 0x7FFF, 0x7FBF) << "quiet";
      EXPECT_EQ(bits_of(halves[0]) >> 15, bits >> 31);
      EXPECT_EQ(bits_of(bfloats[0]) >> 15, bits >> 31);
    }
  });
}

TEST(Half, BulkIsScalarOnEveryIsa) {
  const std::vector<float> values = float_sweep();
  on_every_isa([&] {
    expect_bulk_is_scalar<half>(values, to_half, HalfMode::ieee);
    expect_bulk_is_scalar<half>(values, to_half, HalfMode::saturate);
    expect_bulk_is_scalar<bfloat16>(values, to_bfloat16);
    expect_lengths_and_alignments<half>();
    expect_lengths_and_alignments<bfloat16>();
  });
}

TEST(Bfloat16, AllValuesRoundTrip) {
  on_every_isa([] {
    const std::vector<bfloat16> all = all_values<bfloat16>();
    std::vector<float> widened(all.size());
    std::vector<bfloat16> back(all.size());
    widen(all.data(), widened.data(), all.size());
    narrow(widened.data(), back.data(), all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Bits bits = static_cast<Bits>(i);
      const bool nan = (bits & 0x7FFF) > 0x7F80;
      ASSERT_EQ(std::bit_cast<std::uint32_t>(widened[i]), std::uint32_t{bits} << 16);
      ASSERT_EQ(bits_of(back[i]), nan ? bits | 0x40 : bits);
    }
  });
}

TEST(Bfloat16, RoundsToNearestEvenAtEveryBoundary) {
  const Roundings cases = bfloat16_boundaries();
  on_every_isa([&] {
    std::vector<bfloat16> bulk(cases.values.size());
    narrow(cases.values.data(), bulk.data(), bulk.size());
    for (std::size_t i = 0; i < bulk.size(); ++i) {
      ASSERT_EQ(bits_of(bulk[i]), cases.expected[i]) << cases.values[i];
      ASSERT_EQ(bits_of(to_bfloat16(cases.values[i])), cases.expected[i]) << cases.values[i];
    }
  });
}

TEST(Bfloat16, FromDoubleRoundsOnce) {
  for (Bits bits = 0; bits < 0x7F7F; ++bits) {
    const Bits above = static_cast<Bits>(bits + 1);
    const double middle = (double(value_of_bfloat16(bits)) + double(value_of_bfloat16(above))) / 2;
    ASSERT_EQ(bits_of(round_to_bfloat16(middle)), bits % 2 == 0 ? bits : above) << middle;
    ASSERT_EQ(bits_of(round_to_bfloat16(std::nextafter(middle, 0.0))), bits) << middle;
    ASSERT_EQ(bits_of(round_to_bfloat16(std::nextafter(middle, 1e300))), above) << middle;
  }
}

}  // namespace opbench
