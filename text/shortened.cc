#include "text/shortened.h"

#include <fmt/format.h>

#include "tensor/utf8.h"

namespace opbench {
namespace {

constexpr std::string_view kCut = "..";

// The byte at which letter `index` begins.
std::size_t place_of(std::string_view text, std::size_t index) {
  std::size_t letters = 0, place = 0;
  for (; place < text.size(); ++place) {
    if (continues_utf8(text[place])) continue;
    if (letters == index) break;
    ++letters;
  }
  return place;
}

}  // namespace

std::string shortened(std::string_view text, std::size_t width) {
  const std::size_t length = utf8_length(text);
  if (length <= width) return std::string(text);
  if (width <= kCut.size()) return std::string(text.substr(0, place_of(text, width)));
  const std::size_t kept = width - kCut.size(), end = kept / 2;
  std::string result(text.substr(0, place_of(text, kept - end)));
  return result.append(kCut).append(text.substr(place_of(text, length - end)));
}

std::string excerpt(std::string_view text, std::size_t longest) {
  if (text.size() <= longest) return std::string(text);
  std::size_t end = longest / 2, begin = text.size() - longest / 2;
  while (end > 0 && continues_utf8(text[end])) --end;
  while (begin < text.size() && continues_utf8(text[begin])) ++begin;
  return fmt::format("{} ... {} more bytes ... {}", text.substr(0, end), begin - end,
                     text.substr(begin));
}

}  // namespace opbench
