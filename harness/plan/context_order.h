#pragma once

#include <string>

#include "harness/plan/context.h"

namespace opbench {

/// Sorts the nodes topologically, as close to the present order as possible: every tensor is
/// written before it is read. `outputs_origin` is the place of the outputs in the file.
/// Errors: throws Error "file:line: ..." on a name that is used or written twice, an output that no
/// node writes or that is named twice, on cycles, and on nodes, inputs and parameters that no
/// output depends on.
void order_graph(ContextGraph& graph, const std::string& outputs_origin);

}  // namespace opbench
