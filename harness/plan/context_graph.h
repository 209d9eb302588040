#pragma once

#include "harness/plan/context.h"
#include "harness/plan/graph.h"

namespace opbench {

/// A step's graph in terms of values: plain formats and the framework's operators, before kernels
/// and storage are chosen.
struct LogicalGraph {
  Graph graph;
  /// Tensors that decide the step's verdict, in order: the outputs, the loss, the gradients of
  /// inputs and parameters, the updated parameters.
  std::vector<std::size_t> results;
  /// Tensors that arrive in a private format, with that format.
  std::vector<std::pair<std::size_t, Format>> arriving;
};

/// Builds the forward graph of a step with the casts of its precision. If the context has them, the
/// backward pass from the loss and the parameter update follow. If the loss is scaled, the update
/// is skipped when a gradient is not finite. `dtype` is that of tensors that state none.
/// Errors: throws Error "file:line: ..." if an operator refuses its inputs or has no gradient.
LogicalGraph build_context_graph(const Context& context, const ContextStep& step, DType dtype);

}  // namespace opbench
