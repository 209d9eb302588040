#pragma once

#include <vector>

#include "harness/plan/context_graph.h"
#include "harness/plan/lowering.h"
#include "harness/plan/node_plan.h"
#include "harness/plan/selected_kernels.h"

namespace opbench {

/// A graph whose tensors have storage formats. Every node has its kernel. TransData and Cast nodes
/// convert inputs that arrive in another format or dtype than the kernel takes.
struct PhysicalGraph {
  Graph graph;
  SelectedKernels selection;
  std::vector<GraphResult> results;  ///< results of the logical graph, in order
};

/// Readers of the tensors of a logical graph.
struct Readers {
  explicit Readers(const LogicalGraph& logical);

  std::vector<bool> is_read;  ///< of each tensor: by a node, or as a result
  /// By tensor: the first node that reads it, and the index of the input; null: no reader.
  std::vector<std::pair<const Node*, std::size_t>> first;

  /// The dtypes in which a node's outputs are read; none: it is not read.
  std::vector<std::optional<DType>> dtypes_of(const LogicalGraph& logical, const Node& node) const;
};

/// Arrival of a tensor that has no storage yet.
Arrival arrival_of(const GraphTensor& tensor);

/// Plans kernels and formats like the framework, node by node in execution order:
/// - The kernel is the first of `variants`, else of the device's kernels, else of the framework's,
///   that takes the node in some format.
/// - The format is that of the node's first input if the kernel and the rules take it, else the
///   first that they take. Cube operators take NC1HWC0 (and with allow_fp32_to_fp16 only fp16).
/// - An output has the format that the framework gives it: that of the first input, or the format
///   of the operator's rule.
/// Errors: throws NoKernel "file:line: ..." if no kernel takes a node.
PhysicalGraph plan_formats(const LogicalGraph& logical, const Variants& variants,
                           const FrameworkRules& rules);

}  // namespace opbench
