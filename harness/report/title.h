#pragma once

#include <iosfwd>
#include <string>

#include "text/console_colour.h"

namespace opbench::report {

/// The title of a case or context, and in brackets how it was measured, below it where there is no
/// room beside it.
void print_title(std::ostream& out, const std::string& title, const std::string& details,
                 const ConsoleStyle& style);

}  // namespace opbench::report
