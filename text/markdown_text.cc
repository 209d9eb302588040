#include "text/markdown_text.h"

#include <algorithm>
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

void write_markdown_row(std::ostream& out, const std::vector<std::string>& cells) {
  out << '|';
  for (const std::string& cell : cells) out << ' ' << cell << (cell.empty() ? "|" : " |");
  out << '\n';
}

void write_markdown_titles(std::ostream& out, const std::vector<std::string>& titles,
                           std::size_t right, std::size_t right_end) {
  write_markdown_row(out, titles);
  out << '|';
  for (std::size_t i = 0; i < titles.size(); ++i) {
    out << (i >= right && i < right_end ? "---:|" : "---|");
  }
  out << '\n';
}

}  // namespace opbench
