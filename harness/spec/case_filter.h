#pragma once

#include <functional>
#include <string>

namespace opbench {

/// `--filter`: a regular expression on ids and names.
class CaseFilter {
 public:
  /// Empty: takes all. Errors: throws Error if it is too long or no regular expression.
  explicit CaseFilter(const std::string& pattern);

  bool takes(const std::string& id, const std::string& name) const;

 private:
  // Not std::regex: its header and its matcher cost seconds wherever they are compiled.
  std::function<bool(const std::string& text)> matches_;  ///< empty: everything
};

}  // namespace opbench
