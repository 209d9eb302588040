#pragma once

#include <vector>

#include "harness/case_values.h"
#include "harness/context.h"
#include "harness/context_template.h"

namespace opbench {

/// What the contexts of a file see of the rest of it.
struct ContextSurroundings {
  const Symbols& symbols;
  const std::vector<DType>& dtypes;  ///< of contexts that state none; empty: fp32
  const Blocks& blocks;
};

/// Reads `contexts:`. Graphs have their blocks included and their nodes in the order of execution.
/// Errors: throws Error "file:line: ..." on anything unknown, mistyped, unused or out of range.
std::vector<Context> read_contexts(const YamlValue& value, const ContextSurroundings& file,
                                   GraphReader& reader, ContextBudget& budget);

}  // namespace opbench
