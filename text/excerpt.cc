#include "text/excerpt.h"

#include <fmt/format.h>

namespace opbench {
namespace {

bool goes_on(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

}  // namespace

std::string excerpt(std::string_view text, std::size_t longest) {
  if (text.size() <= longest) return std::string(text);
  std::size_t end = longest / 2, begin = text.size() - longest / 2;
  while (end > 0 && goes_on(text[end])) --end;
  while (begin < text.size() && goes_on(text[begin])) ++begin;
  return fmt::format("{} ... {} more bytes ... {}", text.substr(0, end), begin - end,
                     text.substr(begin));
}

}  // namespace opbench
