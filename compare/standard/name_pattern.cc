#include "compare/standard/name_pattern.h"

#include <fmt/format.h>

#include <regex>

#include "tensor/error.h"

namespace opbench {

std::function<bool(std::string_view)> name_pattern(const std::string& pattern,
                                                   const std::string& what) {
  // The library's matcher recurses by the length of both, so both are bounded.
  constexpr std::size_t kLongestPattern = 200, kLongestName = 4096;
  if (pattern.size() > kLongestPattern) {
    throw Error(fmt::format("{} has {} characters; at most {} are allowed", what, pattern.size(),
                            kLongestPattern));
  }
  try {
    // __polynomial: no pattern can make it backtrack for ever.
    std::regex regex(pattern, std::regex::ECMAScript | std::regex_constants::__polynomial);
    return [regex = std::move(regex)](std::string_view name) {
      const std::string_view searched = name.substr(0, kLongestName);
      return std::regex_search(searched.begin(), searched.end(), regex);
    };
  } catch (const std::regex_error& error) {
    throw Error(
        fmt::format("{} '{}' is not a regular expression: {}", what, pattern, error.what()));
  }
}

}  // namespace opbench
