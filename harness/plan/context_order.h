#pragma once

#include <string>

#include "harness/plan/context.h"

namespace opbench {

/// Puts the nodes into an order in which every tensor is written before it is read, as near to the
/// present one as that allows. `outputs_origin` is where the outputs are named.
/// Errors: throws Error "file:line: ..." on a name that is used or written twice, an output that no
/// node writes or that is another one, on cycles, and on nodes, inputs and parameters that no
/// output needs.
void order_graph(ContextGraph& graph, const std::string& outputs_origin);

}  // namespace opbench
