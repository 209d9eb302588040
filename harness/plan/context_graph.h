#pragma once

#include "harness/plan/context.h"
#include "harness/plan/graph.h"

namespace opbench {

/// A step's graph in terms of values: plain formats, the framework's operators, before kernels and
/// storage are chosen.
struct LogicalGraph {
  Graph graph;
  /// What the step is judged by, in order: the outputs, the loss, the gradients of inputs and
  /// parameters, the updated parameters.
  std::vector<std::size_t> results;
  /// Tensors that arrive in another format than the plain one, with that format.
  std::vector<std::pair<std::size_t, Format>> arriving;
};

/// Builds the forward graph of a step with the casts of its precision, then, where the context
/// says so, the backward pass from the loss and the parameter update, which is left out where a
/// gradient is not finite if the loss is scaled. `dtype` is that of tensors that state none.
/// Errors: throws Error "file:line: ..." where an operator refuses its inputs or has no gradient.
LogicalGraph build_context_graph(const Context& context, const ContextStep& step, DType dtype);

}  // namespace opbench
