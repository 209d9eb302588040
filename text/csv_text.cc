#include "text/csv_text.h"

#include <fmt/format.h>

#include <cmath>

namespace opbench {

std::string csv_quoted(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(text);
  std::string result = "\"";
  for (const char letter : text) {
    if (letter == '"') result += '"';
    result += letter;
  }
  return result + '"';
}

std::string csv_cell(const Cell& cell) {
  struct Visitor {
    std::string operator()(std::monostate) const { return {}; }
    std::string operator()(const std::string& text) const { return csv_quoted(text); }
    std::string operator()(double number) const {
      return std::isfinite(number) ? fmt::format("{}", number) : std::string();
    }
    std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
    std::string operator()(bool value) const { return value ? "true" : "false"; }
  };
  return std::visit(Visitor{}, cell);
}

}  // namespace opbench
