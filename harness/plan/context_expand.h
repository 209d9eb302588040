#pragma once

#include <map>
#include <string>

#include "harness/plan/case_values.h"
#include "harness/plan/context.h"
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

/// What the blocks of a graph are and which symbols it sees.
struct ExpansionRules {
  const Blocks& blocks;
  /// Includes of the first are includes of the second.
  const std::map<std::string, std::string>& replaced;
  const Symbols& symbols;  ///< of the file
};

/// The graph with its blocks included, repetitions unrolled and symbols replaced; nodes in the
/// order in which they are written. What block NAME has inside is called "NAME.", with the number
/// of a repetition "NAME.3."; its outputs have the names that its user gives them.
/// Errors: throws Error "file:line: ..." on wrong expressions, attributes and shapes, on blocks
/// that include themselves or are nested more than 16 deep, and above the limits of `budget`.
ContextGraph expand_graph(const GraphTemplate& graph, const ExpansionRules& rules,
                          ContextBudget& budget);

}  // namespace opbench
