#include "text/name_pattern.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <memory>

#include "tensor/error.h"
#include "tensor/utf8.h"

namespace opbench {

std::function<bool(std::string_view)> name_pattern(const std::string& pattern,
                                                   const std::string& what) {
  constexpr std::size_t kLongestPattern = 4096;
  if (pattern.size() > kLongestPattern) {
    throw Error(fmt::format("{} has {} characters; at most {} are allowed", what, pattern.size(),
                            kLongestPattern));
  }
  const auto expression = std::make_shared<const RE2>(pattern, RE2::Quiet);
  if (!expression->ok()) {
    throw Error(fmt::format("{} '{}' is not a regular expression: {}", what, printable(pattern),
                            printable(expression->error())));
  }
  return [expression](std::string_view name) {
    return RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *expression);
  };
}

}  // namespace opbench
