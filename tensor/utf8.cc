#include "tensor/utf8.h"

#include <algorithm>

namespace opbench {
namespace {

unsigned byte_at(std::string_view text, std::size_t place) {
  return place < text.size() ? static_cast<unsigned char>(text[place]) : 0;
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

}  // namespace opbench
