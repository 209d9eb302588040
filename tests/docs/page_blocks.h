#pragma once

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

}  // namespace opbench
