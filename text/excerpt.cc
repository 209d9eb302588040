#include "text/excerpt.h"

#include <fmt/format.h>

#include "tensor/utf8.h"

namespace opbench {
std::string excerpt(std::string_view text, std::size_t longest) {
  if (text.size() <= longest) return std::string(text);
  std::size_t end = longest / 2, begin = text.size() - longest / 2;
  while (end > 0 && continues_utf8(text[end])) --end;
  while (begin < text.size() && continues_utf8(text[begin])) ++begin;
  return fmt::format("{} ... {} more bytes ... {}", text.substr(0, end), begin - end,
                     text.substr(begin));
}

}  // namespace opbench
