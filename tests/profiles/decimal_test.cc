#include "profiles/decimal.h"

#include <gtest/gtest.h>

namespace opbench {
namespace {

std::int64_t units(std::string_view text, int scale) {
  const auto value = parse_decimal(text, scale);
  return value ? value->units : INT64_MIN;
}

TEST(ParseDecimal, KeepsAllDigits) {
  // 2^53 / 1000 is 9.0e12: as a double in us this start time is right to 0.25 us only.
  EXPECT_EQ(units("1736408883704643.212", 3), 1736408883704643212);
  EXPECT_EQ(units("1764246877073569640", 0), 1764246877073569640);
  EXPECT_EQ(units("833.420000", 6), 833420000);
  EXPECT_EQ(units("7", 6), 7000000);
  EXPECT_EQ(units("-0.5", 1), -5);
  EXPECT_EQ(parse_decimal("833.420000", 6)->digits, 6);
}

TEST(ParseDecimal, RoundsWhatIsFinerAndReadsExponents) {
  EXPECT_EQ(units("8873.756000000001", 6), 8873756000);
  EXPECT_EQ(units("0.00049", 3), 0);
  EXPECT_EQ(units("0.0005", 3), 1);
  EXPECT_EQ(units("1.5e-05", 6), 15);
}

TEST(ParseDecimal, RefusesWhatIsNoNumber) {
  for (const char* text : {"", "N/A", ".", "-", "1.2.3", "1,5", "nan", "inf", "0x10", "1e400",
                           "99999999999999999999", "10000000000000000"}) {
    EXPECT_FALSE(parse_decimal(text, 6)) << text;
  }
}

}  // namespace
}  // namespace opbench
