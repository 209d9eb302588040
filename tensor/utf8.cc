#include "tensor/utf8.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>

namespace opbench {
namespace {

unsigned byte_at(std::string_view text, std::size_t place) {
  return place < text.size() ? static_cast<unsigned char>(text[place]) : 0;
}

// Control characters (C0, DEL, C1), ends of lines, and characters that change the direction of
// writing (Unicode Standard Annex 9, section 2), which can disguise a text.
bool is_acted_upon(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c <= 0x9F) || c == 0x061C || c == 0x200E || c == 0x200F ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

// CI systems read lines of a log as commands: "::error::" after blanks only, "##[error]" and
// "##vso[...]" anywhere.
bool begins_log_command(std::string_view text, std::size_t place) {
  const std::string_view two = text.substr(place, 2);
  const bool is_first = place == 0 || text[place - 1] == ' ';
  return two == "##" || (is_first && two == "::");
}

std::string escaped(char32_t code) {
  return code < 0x80 ? fmt::format("\\x{:02x}", std::uint32_t{code})
                     : fmt::format("\\u{:04x}", std::uint32_t{code});
}

}  // namespace

Utf8Character utf8_character(std::string_view text, std::size_t place) {
  const unsigned first = byte_at(text, place);
  if (first < 0x80) return {first, place < text.size() ? 1u : 0u};
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return {};
  char32_t code = first & (0x7Fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const unsigned next = byte_at(text, place + i);
    if (!continues_utf8(static_cast<char>(next))) return {};
    code = code << 6 | (next & 0x3F);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kLeast[bytes] || code > 0x10FFFF || is_surrogate) return {};
  return {code, bytes};
}

std::size_t utf8_length(std::string_view text) {
  return text.size() -
         static_cast<std::size_t>(std::count_if(text.begin(), text.end(), continues_utf8));
}

std::string printable(std::string_view text) {
  std::string result;
  for (std::size_t place = 0; place < text.size();) {
    const auto [code, bytes] = utf8_character(text, place);
    if (bytes == 0) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[place++]));
      continue;
    }
    const bool is_escaped = is_acted_upon(code) || begins_log_command(text, place);
    result += is_escaped ? escaped(code) : std::string(text.substr(place, bytes));
    place += bytes;
  }
  return result;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return lower;
}

}  // namespace opbench
