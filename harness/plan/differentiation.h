#pragma once

#include <map>
#include <vector>

#include "harness/plan/graph.h"

namespace opbench {

/// Tensor -> its gradient.
using Gradients = std::map<std::size_t, std::size_t>;

/// Reverse-mode differentiation: walks the nodes of `graph` backwards from `losses`, whose
/// gradients are filled with `seed`, and appends the operators' gradient calls. The gradients of a
/// tensor that several nodes read are added up. Nodes are named after those they differentiate.
/// Errors: throws Error if an operator on the way has no gradient.
Gradients differentiate(Graph& graph, const std::vector<std::size_t>& losses,
                        const Distribution& seed = {DistributionKind::constant, 1, 0});

}  // namespace opbench
