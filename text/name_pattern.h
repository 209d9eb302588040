#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace opbench {

/// Returns a function that tests if a regular expression is found anywhere in a name. `what` is
/// used in messages: "--only". The syntax is RE2's, without look-around and back-references, so the
/// time is proportional to the name's length. Errors: throws Error if the pattern is invalid or too
/// long.
std::function<bool(std::string_view)> name_pattern(const std::string& pattern,
                                                   const std::string& what);

}  // namespace opbench
