#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/plan/context.h"
#include "harness/plan/graph.h"

namespace opbench {

/// A tensor that decides a step's verdict. Inputs of which one gradient is that of both, such as
/// those of an addition, have results of one tensor: each is named after its input.
struct GraphResult {
  std::string name;
  std::size_t tensor;
};

/// A step's graph in terms of values: plain formats and the framework's operators, before kernels
/// and storage are chosen.
struct LogicalGraph {
  Graph graph;
  /// The outputs, the loss, the gradients of inputs and parameters, the updated parameters.
  std::vector<GraphResult> results;
  /// Tensors that arrive in a private format, with that format.
  std::vector<std::pair<std::size_t, Format>> arriving;
};

/// Builds the forward graph of a step with the casts of its precision. If the context has them, the
/// backward pass from the loss and the parameter update follow. If the loss is scaled, the update
/// is skipped when a gradient is not finite. `dtype` is that of tensors that state none.
/// Errors: throws Error "file:line: ..." if an operator refuses its inputs or has no gradient.
LogicalGraph build_context_graph(const Context& context, const ContextStep& step, DType dtype);

}  // namespace opbench
