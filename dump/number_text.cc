#include "dump/number_text.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "tensor/half.h"

namespace opbench {
namespace {

constexpr int kUnlimited = 1000;  // digits; the shortest form of a double has fewer

// Formats "d.ddde+XX" with the fewest digits for half precision. The standard library has no such
// function.
std::string shortest_half(double value) {
  constexpr int kEnough = 5;  // digits identify 11 bits: 1 + ceil(11 log10(2))
  const half wanted = round_to_half(value);
  std::string text;
  for (int digits = 0; digits < kEnough; ++digits) {
    text = fmt::format("{:.{}e}", value, digits);
    if (round_to_half(std::strtod(text.c_str(), nullptr)) == wanted) break;
  }
  return text;
}

std::string shortest_scientific(double value, StoredType type) {
  if (type == StoredType::f16) return shortest_half(value);
  std::array<char, 64> text;
  char* const end = text.data() + text.size();
  const auto made = type == StoredType::f32
                        ? std::to_chars(text.data(), end, static_cast<float>(value),
                                        std::chars_format::scientific)
                        : std::to_chars(text.data(), end, value, std::chars_format::scientific);
  return {text.data(), made.ptr};
}

// Removes zeros at the end but keeps the point.
void trim_zeros(std::string& text) { text.resize(text.find_last_not_of('0') + 1); }

}  // namespace

ShortestDigits shortest_digits(double value, StoredType type) {
  ShortestDigits result{std::signbit(value), "0", 1};
  if (value == 0) return result;
  const std::string text = shortest_scientific(std::fabs(value), type);
  const std::size_t e = text.find('e');
  result.digits = text.substr(0, 1);
  if (e > 2) result.digits += text.substr(2, e - 2);
  trim_zeros(result.digits);
  result.exponent = std::atoi(text.c_str() + e + 1) + 1;
  return result;
}

std::string positional_text(double value, StoredType type, int most) {
  const ShortestDigits shortest = shortest_digits(value, type);
  const int after = static_cast<int>(shortest.digits.size()) - shortest.exponent;
  std::string text;
  if (after > most) {
    text = fmt::format("{:.{}f}", std::fabs(value), most);  // rounds the exact value
    if (most == 0) text += '.';
  } else {
    const auto& [is_negative, digits, exponent] = shortest;
    const auto whole = static_cast<std::size_t>(std::max(exponent, 0));
    text = exponent > 0 ? digits.substr(0, whole) : "0";
    if (whole > digits.size()) text.append(whole - digits.size(), '0');
    text += '.';
    if (exponent < 0 && value != 0) text.append(static_cast<std::size_t>(-exponent), '0');
    if (whole < digits.size()) text += digits.substr(whole);
  }
  trim_zeros(text);
  return (shortest.is_negative ? "-" : "") + text;
}

std::string scientific_text(double value, StoredType type, int most) {
  const ShortestDigits shortest = shortest_digits(value, type);
  const int after = static_cast<int>(shortest.digits.size()) - 1;
  const std::string sign = shortest.is_negative ? "-" : "";
  if (after > most) {
    std::string text = fmt::format("{:.{}e}", std::fabs(value), most);
    const std::size_t e = text.find('e');
    std::string mantissa = text.substr(0, e);
    if (most == 0) mantissa += '.';
    trim_zeros(mantissa);
    return sign + mantissa + text.substr(e);
  }
  const int exponent = value == 0 ? 0 : shortest.exponent - 1;
  return fmt::format("{}{}.{}e{}{:02}", sign, shortest.digits[0], shortest.digits.substr(1),
                     exponent < 0 ? '-' : '+', std::abs(exponent));
}

std::string scalar_text(const Number& value, StoredType type) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "True" : "False";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *whole);
  if (const auto* whole = std::get_if<std::uint64_t>(&value)) return fmt::format("{}", *whole);
  const double number = std::get<double>(value);
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  const double size = std::fabs(number);
  constexpr double kLeast = 1e-4, kMost = 1e16;  // numpy's bounds for positional text
  if (size != 0 && (size < kLeast || size >= kMost)) {
    std::string text = scientific_text(number, type, kUnlimited);
    if (const std::size_t bare = text.find(".e"); bare != text.npos) text.erase(bare, 1);
    return text;
  }
  std::string text = positional_text(number, type, kUnlimited);
  return text.ends_with('.') ? text + '0' : text;
}

std::string compact_text(const Number& value) {
  constexpr std::int64_t kMostWhole = 999'999'999;  // with a sign in ten columns
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "1" : "0";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    if (*whole >= -kMostWhole && *whole <= kMostWhole) return fmt::format("{}", *whole);
    return fmt::format("{:.4g}", static_cast<double>(*whole));
  }
  if (const auto* whole = std::get_if<std::uint64_t>(&value)) {
    if (*whole <= static_cast<std::uint64_t>(kMostWhole)) return fmt::format("{}", *whole);
    return fmt::format("{:.4g}", static_cast<double>(*whole));
  }
  const double number = std::get<double>(value);
  if (std::isnan(number)) return "nan";
  constexpr std::size_t kColumns = 10;
  const std::string text = fmt::format("{:.4g}", number);
  return text.size() > kColumns ? fmt::format("{:.3g}", number) : text;
}

}  // namespace opbench
