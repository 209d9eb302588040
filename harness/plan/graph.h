#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/plan/case.h"
#include "kernels/kernel.h"

namespace opbench {

/// A tensor of a graph. Inputs, parameters and the seeds of the backward pass are filled with data.
/// Constants have fixed contents, and zeros stay zero. Everything else is computed.
struct GraphTensor {
  enum Role { input, parameter, gradient_seed, constant, zeros, intermediate, output };

  std::string name;
  TensorDesc desc;
  Role role = intermediate;
  Distribution data = {};           ///< of inputs, parameters and the seeds of the backward pass
  std::vector<std::int64_t> index;  ///< of constants: a precomputed index

  bool is_computed() const { return role == intermediate || role == output; }
};

/// One call of an operator; numbers index the graph's tensors.
struct Node {
  static constexpr std::size_t kNone = SIZE_MAX;

  Problem problem;
  std::vector<std::size_t> inputs;
  std::vector<std::size_t> outputs;
  bool under_test = false;  ///< the case's operator or its gradient; false for the mean
  std::string name = {};    ///< of a context's node: "stage2.1.branch2.dw"
  std::string cause = {};   ///< why a planner inserted it; empty: it is part of the case
  std::string origin = {};  ///< "file:line" of its node in the file
  /// A flag tensor: the node is skipped if the flag is not 0. Its outputs keep their contents then.
  std::size_t unless = kNone;
  /// Nodes of the same number share the conversions of their inputs; 0: not shared.
  int shares_conversions = 0;
};

/// Graph of a case or step. A single operator is a graph of one node. Nodes are in execution order.
struct Graph {
  std::vector<GraphTensor> tensors;
  std::vector<Node> nodes;

  /// Sum over the nodes.
  Traffic traffic() const;
  /// Bytes of all tensors.
  std::size_t memory_bytes() const;
  /// True if an operator combines many elements into one, so that a NaN or Inf would spread to the
  /// whole output.
  bool mixes_elements() const;
};

/// Appends a tensor; returns its number.
std::size_t add_tensor(Graph& graph, std::string name, TensorDesc desc, GraphTensor::Role role);

/// Appends a call of `op` and its outputs, named after the operator's with `prefix` in front.
/// Returns the node's number.
/// Errors: throws Error if the operator refuses the inputs.
std::size_t add_node(Graph& graph, const Op& op, std::vector<std::size_t> inputs, Attrs attrs,
                     const std::string& prefix);

/// Makes outputs of the computed tensors without readers.
void mark_unread_as_outputs(Graph& graph);

/// Text of a graph's computation, a line for each property of each node: operator, kernel, tensors
/// by number and description, attributes. Graphs with equal texts compute the same in the same
/// order.
std::string text_of(const Graph& graph, std::span<const Kernel* const> kernels);

}  // namespace opbench
