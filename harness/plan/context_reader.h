#pragma once

#include <vector>

#include "harness/plan/case_values.h"
#include "harness/plan/context.h"
#include "harness/plan/context_template.h"

namespace opbench {

/// Reads `contexts:`. Graphs have their blocks included, and their nodes are in the order of
/// execution.
/// Errors: throws Error "file:line: ..." on any unknown, mistyped, unused or out-of-range value.
std::vector<Context> read_contexts(const YamlValue& value, const ContextSurroundings& file,
                                   GraphReader& reader, ContextBudget& budget);

}  // namespace opbench
