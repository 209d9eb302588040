#pragma once

#include <cstddef>
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

}  // namespace opbench
