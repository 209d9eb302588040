#include <fmt/format.h>

#include <cmath>
#include <ostream>

#include "harness/report.h"

namespace opbench {
namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string result = "\"";
  for (const char letter : text) {
    if (letter == '"') result += '"';
    result += letter;
  }
  return result + '"';
}

std::string cell_text(const Cell& cell) {
  struct Visitor {
    std::string operator()(std::monostate) const { return {}; }
    std::string operator()(const std::string& text) const { return quoted(text); }
    std::string operator()(double number) const {
      return std::isfinite(number) ? fmt::format("{}", number) : std::string();
    }
    std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
    std::string operator()(bool value) const { return value ? "true" : "false"; }
  };
  return std::visit(Visitor{}, cell);
}

}  // namespace

void write_csv(std::ostream& out, std::span<const Record> records) {
  const char* separator = "";
  for (const Field& field : record_fields()) {
    out << separator << column_name(field);
    separator = ",";
  }
  out << '\n';
  for (const Record& record : records) {
    separator = "";
    for (const Field& field : record_fields()) {
      out << separator << cell_text(field.value(record));
      separator = ",";
    }
    out << '\n';
  }
}

}  // namespace opbench
