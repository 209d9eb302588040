#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace opbench {

/// A character as UTF-8 holds it.
struct Utf8Character {
  char32_t code = 0;
  std::size_t bytes = 0;  ///< 0: what stands there is no UTF-8
};

/// The character that begins at byte `place` of `text` (RFC 3629: no overlong forms, no surrogates,
/// at most U+10FFFF).
Utf8Character utf8_character(std::string_view text, std::size_t place);

/// True for a byte that continues a character: text is not to be cut before it.
inline bool continues_utf8(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

/// How many characters `text` has; each stands for a column of a terminal.
std::size_t utf8_length(std::string_view text);

/// `text` with control characters as "\x0a": outside text must neither break a line nor drive a
/// terminal.
std::string printable(std::string_view text);

/// `text` without the spaces, tabs and line ends around it.
std::string_view trimmed(std::string_view text);

/// `text` with small letters for A to Z.
std::string in_lower_case(std::string_view text);

}  // namespace opbench
