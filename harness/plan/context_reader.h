#pragma once

#include <vector>

#include "harness/plan/case_values.h"
#include "harness/plan/context.h"
#include "harness/plan/context_template.h"

namespace opbench {

/// Reads `contexts:`. Graphs have their blocks included and their nodes in the order of execution.
/// Errors: throws Error "file:line: ..." on anything unknown, mistyped, unused or out of range.
std::vector<Context> read_contexts(const YamlValue& value, const ContextSurroundings& file,
                                   GraphReader& reader, ContextBudget& budget);

}  // namespace opbench
