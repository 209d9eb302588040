#pragma once

#include <string>

#include "judge/standard.h"

namespace opbench {

/// The standards of judge/standards.yaml, which is part of the program.
const Standards& builtin_standards();

/// The built-in standards as changed by a file of the same form, which may have a list `operators`:
/// entries of a `name` or a `regex` (found anywhere in the operator's name), with a `standard` for
/// these operators in place of the general one, and numbers of theirs. Later entries win.
/// Errors: throws Error "file:line: ..." on anything unknown, mistyped or out of range; Error if
/// the file cannot be read.
Standards load_standards(const std::string& path);

/// The same from text; `path` stands in messages.
Standards parse_standards(const std::string& text, const std::string& path);

/// The numbers of the `mixed` standard for values of `dtype`; exact for integers and bool.
Tolerance mixed_tolerance(DType dtype);

}  // namespace opbench
