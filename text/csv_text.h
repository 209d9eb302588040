#pragma once

#include <string>
#include <string_view>

#include "text/cell.h"

namespace opbench {

/// A cell of a CSV file, RFC 4180: quoted only if it must be. What a spreadsheet would take for a
/// formula gets an apostrophe in front; numbers, "-5", do not.
std::string csv_quoted(std::string_view text);

/// The same of any value; numbers in as many digits as give them back, empty where they are not
/// finite or absent.
std::string csv_cell(const Cell& cell);

}  // namespace opbench
