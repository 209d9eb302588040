#include "text/cell.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "tensor/utf8.h"

namespace opbench {
namespace {

std::string without_controls(std::string_view text) {
  std::string result(text);
  std::replace_if(
      result.begin(), result.end(),
      [](char letter) { return static_cast<unsigned char>(letter) < ' '; }, ' ');
  return printable(result);
}

using Json = nlohmann::ordered_json;

bool is_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  return status == std::errc{} && end == text.data() + text.size();
}

bool is_blank(char letter) {
  constexpr unsigned char kDelete = 0x7F;
  const auto byte = static_cast<unsigned char>(letter);
  return byte <= ' ' || byte == kDelete;
}

// Spreadsheets evaluate cells with these beginnings, also after blanks and line breaks. A tab or a
// carriage return may begin another cell.
bool is_formula(std::string_view text) {
  if (text.starts_with('\t') || text.starts_with('\r')) return true;
  text.remove_prefix(std::find_if_not(text.begin(), text.end(), is_blank) - text.begin());
  constexpr std::string_view kBegins = "=+-@";
  return !text.empty() && kBegins.find(text.front()) != kBegins.npos && !is_number(text);
}

struct ValueOfCell {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(double number) const { return finite_or_null(number); }
  Json operator()(const std::string& text) const { return text; }
  Json operator()(std::int64_t number) const { return number; }
  Json operator()(bool value) const { return value; }
};

}  // namespace

std::string markdown_escaped(std::string_view text) {
  constexpr std::string_view kMarkup = "\\|*`~";
  const std::string plain = without_controls(text);
  std::string result;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const bool ends_link_text = plain.compare(i, 2, "](") == 0 || plain.compare(i, 2, "][") == 0;
    if (kMarkup.find(plain[i]) != kMarkup.npos || ends_link_text) result += '\\';
    if (plain[i] == '<')
      result += "&lt;";
    else if (plain[i] == '&')
      result += "&amp;";
    else
      result += plain[i];
  }
  return result;
}

void write_markdown_code(std::ostream& out, const std::vector<std::string>& lines) {
  std::string code, fence = "```";
  for (const std::string& line : lines) code += printable(line) + '\n';
  while (code.find(fence) != std::string::npos) fence += '`';
  out << fence << "sh\n" << code << fence << '\n';
}

std::string csv_quoted(std::string_view text) {
  if (is_formula(text)) return csv_quoted(fmt::format("'{}", text));
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

void write_csv_row(std::ostream& out, const std::vector<Cell>& cells, std::string_view end) {
  const char* separator = "";
  for (const Cell& cell : cells) {
    out << separator << csv_cell(cell);
    separator = ",";
  }
  out << end;
}

Json finite_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json cell_value(const Cell& cell) { return std::visit(ValueOfCell{}, cell); }

}  // namespace opbench
