#include "cli/help_text.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/utf8.h"
#include "text/fitted.h"

namespace opbench {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

bool is_prose(const std::string& line) { return !line.empty() && line.front() != ' '; }

/// A line of two columns: "  opbench list softplus      variants, and what they accept".
struct Columns {
  std::string left;
  std::size_t second = std::string::npos;  // start of the second; npos: no second
};

Columns help_columns(const std::string& line) {
  const std::size_t word = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t gap = line.find("  ", word);
  if (gap == line.npos) return {line};
  return {line.substr(0, gap), line.find_first_not_of(' ', gap)};
}

std::string command_within(const std::string& line, std::size_t width) {
  constexpr std::size_t kIndent = 6;
  const std::size_t leading = line.find_first_not_of(' ');
  return line.substr(0, leading) + wrapped_command(line.substr(leading), width, kIndent, leading);
}

std::string line_within(const std::string& line, std::size_t width) {
  if (utf8_length(line) <= width) return line;
  const std::size_t leading = line.find_first_not_of(' ');
  const Columns columns = help_columns(line);
  const bool is_command = leading > 0 && line.substr(leading).starts_with("opbench ");
  const bool has_room = columns.second < width * 2 / 3;
  if (columns.second == line.npos) {
    return is_command ? command_within(line, width) : wrapped(line, width, leading);
  }
  const std::string right = line.substr(columns.second);
  if (has_room) {
    return line.substr(0, columns.second) + wrapped(right, width, columns.second, columns.second);
  }
  const std::string indent(leading + 4, ' ');
  const std::string left = utf8_length(columns.left) <= width || !is_command
                               ? columns.left
                               : command_within(columns.left, width);
  return left + '\n' + indent + wrapped(right, width, indent.size(), indent.size());
}

}  // namespace

std::string help_within(std::string_view text, std::size_t width) {
  std::string result, paragraph;
  const auto end_paragraph = [&] {
    if (!paragraph.empty()) result += line_within(paragraph, width) + '\n';
    paragraph.clear();
  };
  for (const std::string& line : lines_of(text)) {
    const bool goes_on = is_prose(line) && !line.starts_with("Usage: ") && is_prose(paragraph) &&
                         paragraph.size() > width;
    if (goes_on) {
      paragraph += ' ' + line;
      continue;
    }
    end_paragraph();
    if (line.empty()) result += '\n';
    paragraph = line;
  }
  end_paragraph();
  return result;
}

}  // namespace opbench
