#pragma once

#include <map>
#include <set>
#include <vector>

#include "harness/plan/graph.h"

namespace opbench {

/// Tensor -> its gradient.
using Gradients = std::map<std::size_t, std::size_t>;

/// Reverse-mode differentiation. Visits the nodes of `graph` backwards from `losses`, whose
/// gradients are filled with `seed`, and appends the operators' gradient calls. Gradients of a
/// tensor with several readers are summed. Each gradient node is named after the node that it
/// differentiates. `constants` and tensors made of them alone take no gradient.
/// Errors: throws Error if an operator on the path has no gradient.
Gradients differentiate(Graph& graph, const std::vector<std::size_t>& losses,
                        const Distribution& seed = {DistributionKind::constant, 1, 0},
                        const std::set<std::size_t>& constants = {});

}  // namespace opbench
