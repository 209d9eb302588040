#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace opbench {

/// A decimal number as a whole number of small units, so that sums are exact and 19 digits stay.
struct Decimal {
  std::int64_t units = 0;
  int digits = 0;  ///< behind the point, as written
};

/// `text` in units of 10^-scale, rounded to the nearest; also "1.5e-05". Nothing for what is no
/// number, "N/A", or too large.
std::optional<Decimal> parse_decimal(std::string_view text, int scale);

/// `to` + `by`, as far as numbers go: hostile times add up to more.
inline void add_saturated(std::int64_t& to, std::int64_t by) {
  if (__builtin_add_overflow(to, by, &to)) to = by < 0 ? INT64_MIN : INT64_MAX;
}

/// Times are kept in picoseconds: microseconds with six digits behind the point.
inline constexpr int kPicoScale = 6;

/// Picoseconds as microseconds with three digits, "8873.737".
std::string us_text(std::int64_t picoseconds);

/// The same as a number.
inline double in_us(std::int64_t picoseconds) { return static_cast<double>(picoseconds) / 1e6; }

}  // namespace opbench
