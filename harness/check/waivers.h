#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace opbench::check {

/// A change for the worse that is intended, as a file of waivers has it.
struct Waiver {
  std::string place;    ///< "file:line"
  std::string pattern;  ///< found in an id or a name, as with --filter
  std::function<bool(std::string_view)> matches;
  std::string variant;  ///< or step of a context; empty: all
  std::string reason;
  std::string expires;                   ///< "2026-12-31", the last day in UTC
  std::optional<double> slower_percent;  ///< the most that is allowed
  std::optional<double> error_factor;    ///< the largest errors, as a multiple of the other build's
  bool allows_gone = false;
};

/// The waivers of a YAML file, in its order. Errors: throws Error "file:line: what was found; what
/// is allowed"; without a line if the file cannot be read.
std::vector<Waiver> load_waivers(const std::string& path);

/// The same from text; `path` stands in messages.
std::vector<Waiver> parse_waivers(const std::string& text, const std::string& path);

}  // namespace opbench::check
