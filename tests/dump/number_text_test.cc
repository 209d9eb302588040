// Expected texts: numpy 1.24, str(numpy.float32(x)) and numpy.format_float_positional / _scientific
// with unique=True.
#include "dump/number_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace opbench {
namespace {

std::string scalar(double value, StoredType type) { return scalar_text(Number(value), type); }

TEST(NumberText, ScalarsHaveTheFewestDigitsThatGiveThemBack) {
  EXPECT_EQ(scalar(0.1f, StoredType::f32), "0.1");
  EXPECT_EQ(scalar(0.1f, StoredType::f64), "0.10000000149011612");
  EXPECT_EQ(scalar(0.0999755859375, StoredType::f16), "0.1");
  EXPECT_EQ(scalar(65504, StoredType::f16), "65500.0");
  EXPECT_EQ(scalar(5.960464477539063e-08, StoredType::f16), "6e-08");
  EXPECT_EQ(scalar(16777216, StoredType::f32), "16777216.0");
  EXPECT_EQ(scalar(3.4028234663852886e38, StoredType::f32), "3.4028235e+38");
  EXPECT_EQ(scalar(1e-4, StoredType::f64), "0.0001");
  EXPECT_EQ(scalar(9.9e-5, StoredType::f64), "9.9e-05");
  EXPECT_EQ(scalar(1e16, StoredType::f64), "1e+16");
  EXPECT_EQ(scalar(1e100, StoredType::f64), "1e+100");
  EXPECT_EQ(scalar(-0.0, StoredType::f32), "-0.0");
  EXPECT_EQ(scalar(2, StoredType::f32), "2.0");
}

TEST(NumberText, ScalarsOfOtherKinds) {
  EXPECT_EQ(scalar(NAN, StoredType::f32), "nan");
  EXPECT_EQ(scalar(-INFINITY, StoredType::f32), "-inf");
  EXPECT_EQ(scalar_text(true, StoredType::boolean), "True");
  EXPECT_EQ(scalar_text(std::numeric_limits<std::int64_t>::min(), StoredType::i64),
            "-9223372036854775808");
  EXPECT_EQ(scalar_text(std::numeric_limits<std::uint64_t>::max(), StoredType::u64),
            "18446744073709551615");
}

TEST(NumberText, DigitsBeyondTheMostAreRoundedFromTheExactValue) {
  EXPECT_EQ(positional_text(1.0 / 3, StoredType::f64, 8), "0.33333333");
  EXPECT_EQ(positional_text(2.0 / 3, StoredType::f64, 8), "0.66666667");
  EXPECT_EQ(positional_text(0.999999999, StoredType::f64, 8), "1.");
  EXPECT_EQ(positional_text(0.125, StoredType::f64, 2), "0.12");  // half to even
  EXPECT_EQ(positional_text(0.001, StoredType::f64, 8), "0.001");
  EXPECT_EQ(positional_text(-120, StoredType::f64, 8), "-120.");
  EXPECT_EQ(positional_text(0, StoredType::f64, 8), "0.");
  EXPECT_EQ(scientific_text(1.0 / 3, StoredType::f64, 8), "3.33333333e-01");
  EXPECT_EQ(scientific_text(1e8, StoredType::f64, 8), "1.e+08");
  EXPECT_EQ(scientific_text(0, StoredType::f64, 8), "0.e+00");
  EXPECT_EQ(scientific_text(-12.5, StoredType::f32, 8), "-1.25e+01");
}

TEST(NumberText, CompactTextsFitTenColumns) {
  const double most = std::numeric_limits<double>::max();
  for (const double value : {0.0, -1.0, 1.0 / 3, -most, most, -1e-300, 123456789.0}) {
    EXPECT_LE(compact_text(value).size(), 10u) << value;
  }
  EXPECT_EQ(compact_text(1.0 / 3), "0.3333");
  EXPECT_EQ(compact_text(std::int64_t{-123456789}), "-123456789");
  EXPECT_EQ(compact_text(std::int64_t{12345678901}), "1.235e+10");
  EXPECT_EQ(compact_text(NAN), "nan");
}

}  // namespace
}  // namespace opbench
