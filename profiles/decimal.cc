#include "profiles/decimal.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace opbench {
namespace {

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

std::optional<Decimal> parse_scientific(std::string_view text, int scale) {
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  const double units = value * std::pow(10.0, scale);
  constexpr double kMost = 9.0e18;
  if (status != std::errc{} || end != text.data() + text.size() || !(std::abs(units) < kMost)) {
    return std::nullopt;
  }
  return Decimal{std::llround(units), scale};
}

}  // namespace

std::optional<Decimal> parse_decimal(std::string_view text, int scale) {
  constexpr std::int64_t kMost = INT64_MAX / 10 - 1;
  const std::string_view whole_text = text;
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  std::int64_t units = 0;
  int behind = 0, digits = 0;
  bool is_behind_point = false, rounds_up = false;
  for (const char letter : text) {
    if (letter == '.' && !is_behind_point) {
      is_behind_point = true;
      continue;
    }
    if (!is_digit(letter)) return parse_scientific(whole_text, scale);
    ++digits;
    if (is_behind_point && ++behind > scale) {
      if (behind == scale + 1) rounds_up = letter >= '5';
      continue;
    }
    if (units > kMost) return std::nullopt;
    units = units * 10 + (letter - '0');
  }
  if (digits == 0) return std::nullopt;
  for (int i = behind; i < scale; ++i) {
    if (units > kMost) return std::nullopt;
    units *= 10;
  }
  units += rounds_up ? 1 : 0;
  return Decimal{is_negative ? -units : units, behind};
}

std::string us_text(std::int64_t picoseconds) { return fmt::format("{:.3f}", in_us(picoseconds)); }

}  // namespace opbench
