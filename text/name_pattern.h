#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace opbench {

/// A test whether a regular expression (ECMAScript) is found anywhere in the first `longest`
/// letters of a name; `what` names it in messages: "--only". Takes no more than polynomial time,
/// whatever the pattern. Errors: throws Error if the pattern is none or too long.
std::function<bool(std::string_view)> name_pattern(const std::string& pattern,
                                                   const std::string& what,
                                                   std::size_t longest = 4096);

}  // namespace opbench
