#pragma once

#include <map>
#include <string>

#include "harness/plan/case_values.h"
#include "harness/plan/context.h"
#include "harness/plan/context_template.h"

namespace opbench {

/// An attribute's values with symbols replaced, as Attrs::set takes them. A value that is a symbol
/// or an expression with symbols ("C*2") becomes its number. Within other values, "{C*2}" is
/// replaced.
/// Errors: throws Error on an expression in braces, or with symbols, that has no value.
std::string attr_text(const AttrTemplate& attr, const Symbols& symbols);

/// Symbols of a block: those of `outer`, and its own. The values of its own are given by `with`,
/// evaluated with the symbols of the including graph, or are the defaults.
/// Errors: throws Error "file:line: ..." on a symbol that the block does not have or that has no
/// value.
Symbols block_symbols(const BlockTemplate& block, const NodeTemplate& include, const Symbols& outer,
                      const Symbols& of_user);

/// Blocks and symbols that are available to a graph.
struct ExpansionRules {
  const Blocks& blocks;
  /// Includes of the key are replaced by includes of the value.
  const std::map<std::string, std::string>& replaced;
  const Symbols& symbols;  ///< of the file
};

/// The graph with its blocks included, repetitions unrolled and symbols replaced. Nodes are in the
/// order in which they are written. Names inside block NAME begin with "NAME.", or with "NAME.3."
/// for a repetition. Its outputs have the names that the including graph gives.
/// Errors: throws Error "file:line: ..." on wrong expressions, attributes and shapes, on blocks
/// that include themselves or are nested more than 16 deep, and above the limits of `budget`.
ContextGraph expand_graph(const GraphTemplate& graph, const ExpansionRules& rules,
                          ContextBudget& budget);

}  // namespace opbench
