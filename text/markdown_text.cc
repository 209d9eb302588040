#include "text/markdown_text.h"

#include <ostream>

namespace opbench {

std::string markdown_escaped(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    if (static_cast<unsigned char>(letter) < ' ') {
      result += ' ';
    } else if (letter == '<') {
      result += "&lt;";
    } else {
      if (letter == '\\' || letter == '|' || letter == '*' || letter == '`') result += '\\';
      result += letter;
    }
  }
  return result;
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
