#include "tensor/byte_float.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tensor/elements.h"

namespace opbench {
namespace {

constexpr DType kByteFloats[] = {DType::fp8_e4m3fn, DType::fp8_e5m2, DType::hif8, DType::e8m0};
constexpr double kInfinity = std::numeric_limits<double>::infinity();

int code(DType dtype, double value) {
  std::uint8_t result = 0;
  from_doubles(dtype, &value, 1, &result);
  return result;
}

double value(DType dtype, int code) { return double(byte_float(dtype).values[std::size_t(code)]); }

}  // namespace

TEST(ByteFloat, EveryValueHasItsCode) {
  for (const DType dtype : kByteFloats) {
    for (int c = 0; c < 256; ++c) {
      const double v = value(dtype, c);
      if (std::isnan(v)) continue;
      EXPECT_EQ(code(dtype, v), c) << name(dtype) << " " << v;
    }
    EXPECT_TRUE(std::isnan(value(dtype, code(dtype, std::nan(""))))) << name(dtype);
  }
}

// Sources: tables of OFP8; the tables of arXiv:2409.16626; the MX specification.
TEST(ByteFloat, PublishedValues) {
  EXPECT_EQ(value(DType::fp8_e4m3fn, 0x7E), 448);
  EXPECT_EQ(value(DType::fp8_e4m3fn, 0x01), 0x1p-9);
  EXPECT_EQ(value(DType::fp8_e5m2, 0x7B), 57344);
  EXPECT_EQ(value(DType::fp8_e5m2, 0x7C), kInfinity);
  EXPECT_EQ(value(DType::hif8, 0x6E), 32768);
  EXPECT_EQ(value(DType::hif8, 0x6F), kInfinity);
  EXPECT_EQ(value(DType::hif8, 0x07), 0x1p-16);
  EXPECT_EQ(value(DType::hif8, 0x0B), 1.375) << "exponent 0, fraction 3/8";
  EXPECT_EQ(value(DType::e8m0, 0), 0x1p-127);
  EXPECT_EQ(value(DType::e8m0, 254), 0x1p127);
}

TEST(ByteFloat, TiesAndOverflow) {
  EXPECT_EQ(code(DType::fp8_e4m3fn, 464), 0x7E) << "a tie goes to even";
  EXPECT_EQ(code(DType::fp8_e4m3fn, 464.0001), 0x7F) << "NaN";
  EXPECT_EQ(code(DType::fp8_e4m3fn, -kInfinity), 0xFF);
  EXPECT_EQ(code(DType::fp8_e5m2, 61439), 0x7B);
  EXPECT_EQ(code(DType::fp8_e5m2, 61440), 0x7C) << "Inf";
  EXPECT_EQ(code(DType::hif8, 40959), 0x6E);
  EXPECT_EQ(code(DType::hif8, 40960), 0x6F) << "Inf";
  EXPECT_EQ(value(DType::hif8, code(DType::hif8, 1.0625)), 1.125) << "away from zero";
  EXPECT_EQ(value(DType::hif8, code(DType::hif8, -1.0625)), -1.125);
  EXPECT_EQ(code(DType::hif8, 0x1p-23), 0x01) << "half of the smallest number";
  EXPECT_EQ(code(DType::hif8, -0x1p-24), 0) << "no -0";
  EXPECT_EQ(value(DType::e8m0, code(DType::e8m0, 1.5)), 2) << "up";
  EXPECT_EQ(value(DType::e8m0, code(DType::e8m0, -3)), 4) << "the sign is dropped";
  EXPECT_EQ(code(DType::e8m0, 0x1.8p127), 0xFF);
}

// bf16 would round 1.0625 + 2^-10 to the tie 1.0625, which goes down to 1.
TEST(ByteFloat, RoundsOnce) {
  EXPECT_EQ(value(DType::fp8_e4m3fn, code(DType::fp8_e4m3fn, 1.0625 + 0x1p-10)), 1.125);
  EXPECT_EQ(value(DType::fp8_e4m3fn, code(DType::fp8_e4m3fn, 1.0625 + 0x1p-40)), 1.125);
  EXPECT_EQ(value(DType::fp8_e4m3fn, code(DType::fp8_e4m3fn, 1.0625)), 1);
}

TEST(ByteFloat, NeighboursAreOneUnitApart) {
  for (const DType dtype : kByteFloats) {
    const std::vector<float>& all = byte_float(dtype).magnitudes;
    for (std::size_t i = 1; i < all.size(); ++i) {
      EXPECT_EQ(ulp_distance(dtype, double(all[i]), double(all[i - 1])), 1) << all[i];
    }
    EXPECT_EQ(double(all.back()), largest_finite(dtype));
    EXPECT_EQ(double(all[all[0] == 0 ? 1 : 0]), smallest_unit(dtype));
  }
  EXPECT_EQ(ulp_distance(DType::hif8, 0x1p-22, -0x1p-22), 2);
}

}  // namespace opbench
