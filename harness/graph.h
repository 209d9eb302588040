#pragma once

#include <string>
#include <vector>

#include "harness/case.h"
#include "kernels/kernel.h"

namespace opbench {

/// A tensor of a graph. Inputs are filled with data, the seeds of the backward pass with a
/// constant, zeros stay zero, everything else is computed.
struct GraphTensor {
  enum Role { input, gradient_seed, zeros, intermediate, output };

  std::string name;
  TensorDesc desc;
  Role role = intermediate;
};

/// One call of an operator; numbers index the graph's tensors.
struct Node {
  Problem problem;
  std::vector<std::size_t> inputs;
  std::vector<std::size_t> outputs;
  bool under_test = false;  ///< the case's operator or its gradient, not the mean around them
};

/// What a case runs: a single operator is a graph of one node. Nodes are in execution order.
struct Graph {
  std::vector<GraphTensor> tensors;
  std::vector<Node> nodes;

  /// Sum over the nodes.
  Traffic traffic() const;
  /// Bytes of all tensors.
  std::size_t memory_bytes() const;
  /// True if an operator joins many elements to one, so that a NaN or Inf would drown the others.
  bool mixes_elements() const;
};

/// The graph of a case; with `backward`, followed by the mean of every floating output and
/// reverse-mode differentiation.
/// Errors: throws Error, prefixed with the case's origin, if the operator refuses the shapes or has
/// no gradient.
Graph build_graph(const Case& c);

/// The kernel of every node for one variant, or the reason why the variant does not take the graph.
struct Selection {
  std::string variant;
  std::vector<const Kernel*> kernels;
  std::string refusal;

  Provider provider() const { return kernels.front()->provider; }
  /// The narrowest range that one of the kernels takes.
  InputRange takes() const;
  /// "softplus_v2+reduce_mean+native+softplus_v2_grad"
  std::string kernel_names() const;
};

/// Bytes of the temporaries that a selection's kernels allocate for a graph. Call inside
/// `with_threads`.
std::size_t temporary_bytes(const Graph& graph, const Selection& selection);

/// `kernel` for the first node, its family for the gradient of that operator, and for the nodes
/// around them the same provider's kernel where there is one, else the native one.
Selection select_kernels(const Graph& graph, const Kernel& kernel);

}  // namespace opbench
