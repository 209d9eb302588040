#pragma once

#include <string>

#include "judge/standard.h"

namespace opbench {

/// The standards of judge/standards.yaml, which is part of the program.
const Standards& builtin_standards();

/// The built-in standards with the changes of a file of the same form. The file may have a list
/// `operators`: entries with a `name` or a `regex` (found anywhere in the operator's name), a
/// `standard` for these operators in place of the general one, and their numbers. Later entries
/// take precedence. Errors: throws Error "file:line: ..." for unknown, mistyped or out-of-range
/// entries; Error if the file cannot be read.
Standards load_standards(const std::string& path);

/// Parses standards from text; messages begin with `path`.
Standards parse_standards(const std::string& text, const std::string& path);

/// The numbers of the `mixed` standard for values of `dtype`; exact for integers and bool.
Tolerance mixed_tolerance(DType dtype);

}  // namespace opbench
