#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace opbench {

/// A character encoded as UTF-8.
struct Utf8Character {
  char32_t code = 0;
  std::size_t bytes = 0;  ///< 0: the bytes are not valid UTF-8
};

/// The character that begins at byte `place` of `text` (RFC 3629: no overlong forms, no surrogates,
/// at most U+10FFFF).
Utf8Character utf8_character(std::string_view text, std::size_t place);

/// True for a byte that continues a character: a text must not be cut before it.
inline bool continues_utf8(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

/// The number of characters of `text`; each takes one column of a terminal.
std::size_t utf8_length(std::string_view text);

/// `text` with control characters escaped as "\x0a": text from outside must neither break a line
/// nor control a terminal.
std::string printable(std::string_view text);

/// `text` without spaces, tabs and line ends at its beginning and end.
std::string_view trimmed(std::string_view text);

/// `text` with lower-case letters for A to Z.
std::string in_lower_case(std::string_view text);

}  // namespace opbench
