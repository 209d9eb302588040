#pragma once

#include <string>

#include "harness/plan/case_values.h"
#include "harness/plan/context_template.h"

namespace opbench {

/// An attribute's values with symbols replaced, as Attrs::set takes them: a value that is a symbol
/// or an expression with symbols ("C*2") becomes its number; within others "{C*2}" does.
/// Errors: throws Error on an expression in braces, or with symbols, that has no value.
std::string attr_text(const AttrTemplate& attr, const Symbols& symbols);

/// The symbols that a block sees: those of `outer`, and its own with the values that `with` gives,
/// evaluated with the symbols of the graph that includes it, or else their defaults.
/// Errors: throws Error "file:line: ..." on a symbol that the block does not have or that nothing
/// gives a value.
Symbols block_symbols(const BlockTemplate& block, const NodeTemplate& include, const Symbols& outer,
                      const Symbols& of_user);

}  // namespace opbench
