#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace opbench {

/// A test whether a regular expression is found anywhere in a name; `what` names it in messages:
/// "--only". The syntax is RE2's, which has no look-around and no back-references: the time is
/// proportional to the name's length, whatever the pattern. Errors: throws Error if the pattern is
/// none or too long.
std::function<bool(std::string_view)> name_pattern(const std::string& pattern,
                                                   const std::string& what);

}  // namespace opbench
