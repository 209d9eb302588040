#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/plan/case.h"
#include "kernels/kernel.h"

namespace opbench {

/// A tensor of a graph. Inputs, parameters and the seeds of the backward pass are filled with data,
/// constants with what they hold, zeros stay zero, everything else is computed.
struct GraphTensor {
  enum Role { input, parameter, gradient_seed, constant, zeros, intermediate, output };

  std::string name;
  TensorDesc desc;
  Role role = intermediate;
  Distribution data = {};           ///< of inputs, parameters and the seeds of the backward pass
  std::vector<std::int64_t> index;  ///< of constants: an index made beforehand

  bool is_computed() const { return role == intermediate || role == output; }
};

/// One call of an operator; numbers index the graph's tensors.
struct Node {
  static constexpr std::size_t kNone = SIZE_MAX;

  Problem problem;
  std::vector<std::size_t> inputs;
  std::vector<std::size_t> outputs;
  bool under_test = false;  ///< the case's operator or its gradient, not the mean around them
  std::string name = {};    ///< of a context's node: "stage2.1.branch2.dw"
  std::string cause = {};   ///< why a planner put it in; empty: it is in the case
  std::string origin = {};  ///< "file:line" of the node it stems from
  /// A flag: the node is left out in runs where it is not 0. Its outputs then keep what they hold.
  std::size_t unless = kNone;
  /// Conversions of its inputs are shared with the nodes of the same number; 0: with nobody.
  int shares_conversions = 0;
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

/// Appends a tensor; returns its number.
std::size_t add_tensor(Graph& graph, std::string name, TensorDesc desc, GraphTensor::Role role);

/// Appends a call of `op` and its outputs, named after the operator's with `prefix` in front;
/// returns the node's number. Errors: throws Error if the operator refuses the inputs.
std::size_t add_node(Graph& graph, const Op& op, std::vector<std::size_t> inputs, Attrs attrs,
                     const std::string& prefix);

/// Makes outputs of the computed tensors that nobody reads.
void mark_unread_as_outputs(Graph& graph);

/// What a graph computes, a line for each thing of each node: operator, kernel, tensors by number
/// and description, attributes. Graphs of one text compute the same in the same order.
std::string text_of(const Graph& graph, std::span<const Kernel* const> kernels);

}  // namespace opbench
