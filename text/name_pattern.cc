#include "text/name_pattern.h"

#include <fmt/format.h>

// Here only: the header and its matcher cost seconds wherever they are compiled.
#include <regex>

#include "tensor/error.h"

namespace opbench {

std::function<bool(std::string_view)> name_pattern(const std::string& pattern,
                                                   const std::string& what, std::size_t longest) {
  // The library's matcher recurses by the length of both, so both are bounded.
  constexpr std::size_t kLongestPattern = 200;
  if (pattern.size() > kLongestPattern) {
    throw Error(fmt::format("{} has {} characters; at most {} are allowed", what, pattern.size(),
                            kLongestPattern));
  }
  try {
    // __polynomial: no pattern can make it backtrack for ever.
    std::regex regex(pattern, std::regex::ECMAScript | std::regex_constants::__polynomial);
    return [regex = std::move(regex), longest](std::string_view name) {
      const std::string_view searched = name.substr(0, longest);
      return std::regex_search(searched.begin(), searched.end(), regex);
    };
  } catch (const std::regex_error& error) {
    throw Error(
        fmt::format("{} '{}' is not a regular expression: {}", what, pattern, error.what()));
  }
}

}  // namespace opbench
