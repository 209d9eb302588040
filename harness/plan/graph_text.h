#pragma once

#include <span>
#include <string>

#include "harness/plan/graph.h"

namespace opbench {

/// What a graph computes, a line for each thing of each node: operator, kernel, tensors by number
/// and description, attributes. Graphs of one text compute the same in the same order.
std::string text_of(const Graph& graph, std::span<const Kernel* const> kernels);

}  // namespace opbench
