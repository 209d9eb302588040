#include "tensor/printable.h"

#include <fmt/format.h>

#include <cstdint>

#include "tensor/utf8.h"

namespace opbench {
namespace {

// Controls (C0, DEL, C1), ends of lines, and what changes the direction of writing (Unicode
// Standard Annex 9, section 2), so that a text would be read as another one.
bool is_acted_upon(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c <= 0x9F) || c == 0x061C || c == 0x200E || c == 0x200F ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

// The logs of CI systems take lines for commands: "::error::" after nothing but blanks,
// "##[error]" and "##vso[...]" anywhere.
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

}  // namespace opbench
