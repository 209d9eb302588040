#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>

#include "text/json_reader.h"

namespace opbench::report {

/// A paragraph for a terminal of 80 columns; its lines begin with `indent` spaces.
void say(std::ostream& out, const std::string& text, std::size_t indent = 2);

/// A sentence for each of the `causes` of an output, where it has any.
void say_causes(std::ostream& out, const JsonValue& output, std::size_t indent);

}  // namespace opbench::report
