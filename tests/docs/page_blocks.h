#pragma once

#include <sstream>
#include <string>
#include <vector>

namespace opbench {

/// The text between ```LANGUAGE and ``` on a page.
inline std::vector<std::string> page_blocks(const std::string& text, const std::string& language) {
  const std::string begin = "\n```" + language + "\n";
  std::vector<std::string> result;
  for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
    at += begin.size();
    result.push_back(text.substr(at, text.find("\n```", at) + 1 - at));
  }
  return result;
}

/// A command of a page, and the output that the page shows.
struct Example {
  std::string command;
  std::vector<std::string> shown;
};

inline std::vector<Example> examples_of(const std::string& page) {
  std::vector<Example> examples;
  bool is_block = false, is_shown = false;
  std::istringstream in(page);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("```")) {
      is_block = !is_block;
      is_shown = false;
    } else if (is_block && line.starts_with("$ ")) {
      examples.push_back({line.substr(2), {}});
      is_shown = true;
    } else if (is_shown) {
      examples.back().shown.push_back(line);
    }
  }
  return examples;
}

/// A line that ends with " ..." stands for its beginning.
inline bool is_shown_as(const std::string& line, const std::string& shown) {
  return shown.ends_with(" ...") ? line.starts_with(shown.substr(0, shown.size() - 3))
                                 : line == shown;
}

/// The first difference, or nothing. A line "..." stands for any lines.
inline std::string difference(const std::string& output, const std::vector<std::string>& shown) {
  std::istringstream in(output);
  std::string line;
  bool may_skip = false;
  for (const std::string& expected : shown) {
    may_skip |= expected == "...";
    if (expected == "...") continue;
    do {
      if (!std::getline(in, line)) return "no line: " + expected;
    } while (may_skip && !is_shown_as(line, expected));
    if (!is_shown_as(line, expected)) return line + ", shown as: " + expected;
    may_skip = false;
  }
  return !may_skip && std::getline(in, line) ? "not shown: " + line : "";
}

}  // namespace opbench
