#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>

#include "text/console_colour.h"
#include "text/json_reader.h"

namespace opbench::report {

/// What the JSON of `opbench judge`, of one dump or two, says of the operators in whose path,
/// "/softplus/2", `wanted` is found, in words: the verdict, and of every output what it was held
/// to, what was found and what it looks like. Without `wanted` those that are GUILTY, at most ten
/// of a dump. Returns how many it wrote of. Errors: throws Error with the place in the file for
/// what is missing or of a wrong type.
std::size_t explain_judgement(std::ostream& out, const JsonValue& judgement,
                              const std::string& wanted, const ConsoleStyle& style);

}  // namespace opbench::report
