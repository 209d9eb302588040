#pragma once

#include <iosfwd>
#include <string>

#include "text/console_colour.h"
#include "text/json_reader.h"

namespace opbench::report {

/// What a compare.json says of the operators in whose name, or name/number, `wanted` is found, in
/// words: verdict, origin of the error, and of every tensor what it was held to, what was found and
/// what it looks like. Without `wanted` those that fail, at most ten of them. Returns how many it
/// wrote of. Errors: throws Error with the place in the file for what is missing or of a wrong
/// type.
std::size_t explain_comparison(std::ostream& out, const JsonValue& comparison,
                               const std::string& wanted, const ConsoleStyle& style);

}  // namespace opbench::report
