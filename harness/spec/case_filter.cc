#include "harness/spec/case_filter.h"

#include <fmt/format.h>

#include <regex>

#include "tensor/error.h"

namespace opbench {

CaseFilter::CaseFilter(const std::string& pattern) {
  if (pattern.empty()) return;
  // The library's matcher recurses by the length of both, so both are bounded.
  constexpr std::size_t kLongestPattern = 200;
  if (pattern.size() > kLongestPattern) {
    throw Error(fmt::format("--filter has {} characters; at most {} are allowed", pattern.size(),
                            kLongestPattern));
  }
  try {
    // __polynomial: no pattern can make it backtrack for ever.
    matches_ =
        [regex = std::regex(pattern, std::regex::ECMAScript | std::regex_constants::__polynomial)](
            const std::string& text) { return std::regex_search(text, regex); };
  } catch (const std::regex_error& error) {
    throw Error(
        fmt::format("--filter '{}' is not a regular expression: {}", pattern, error.what()));
  }
}

bool CaseFilter::takes(const std::string& id, const std::string& name) const {
  return !matches_ || matches_(id) || matches_(name);
}

}  // namespace opbench
