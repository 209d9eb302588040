#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace opbench {

/// `--filter`: a regular expression on ids and names.
class CaseFilter {
 public:
  /// Empty: takes all. Errors: throws Error if it is too long or no regular expression.
  explicit CaseFilter(const std::string& pattern);

  bool takes(const std::string& id, const std::string& name) const;

 private:
  std::function<bool(std::string_view text)> matches_;  ///< empty: everything
};

/// The pattern that takes this name only.
std::string pattern_of_name(std::string_view name);

}  // namespace opbench
