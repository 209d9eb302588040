#include "text/filled.h"

#include <fmt/format.h>

#include <algorithm>

#include "tensor/utf8.h"

namespace opbench {

std::string filled(std::string text, const TextFields& fields) {
  for (const auto& [name, value] : fields) {
    const std::string token = fmt::format("{{{{{}}}}}", name);
    for (std::size_t at = text.find(token); at != text.npos; at = text.find(token, at)) {
      text.replace(at, token.size(), value);
      at += value.size();
    }
  }
  return text;
}

std::string without_escapes(std::string_view text) {
  std::string plain = printable(text);
  std::replace(plain.begin(), plain.end(), '"', '\'');
  std::replace(plain.begin(), plain.end(), '\\', '/');
  return plain;
}

}  // namespace opbench
