#pragma once

#include <vector>

#include "harness/plan/context_graph.h"
#include "harness/plan/lowering.h"
#include "harness/plan/node_plan.h"
#include "harness/plan/selected_kernels.h"

namespace opbench {

/// A graph whose tensors have storage formats: every node has its kernel and gets its inputs as
/// the kernel takes them, through TransData and Cast nodes where they come otherwise.
struct PhysicalGraph {
  Graph graph;
  SelectedKernels selection;
  std::vector<std::size_t> results;  ///< those of the logical graph, in order
};

/// Who reads what in a logical graph.
struct Readers {
  explicit Readers(const LogicalGraph& logical);

  std::vector<bool> is_read;  ///< of each tensor: by a node, or as a result
  /// Of each tensor: the first node that reads it, and as which input; null: none.
  std::vector<std::pair<const Node*, std::size_t>> first;

  /// The dtypes in which a node's outputs are read; none: nobody reads it.
  std::vector<std::optional<DType>> dtypes_of(const LogicalGraph& logical, const Node& node) const;
};

/// How a tensor that nobody has stored yet arrives.
Arrival arrival_of(const GraphTensor& tensor);

/// Plans kernels and formats as the framework does, node by node in execution order:
/// - the kernel is the first of `variants`, else of the device's kernels, else of the framework's,
///   that takes the node in some format;
/// - the format is that of the node's first input where the kernel and the rules take it, else the
///   first that they take; cube operators take NC1HWC0 (and with allow_fp32_to_fp16 only fp16);
/// - an output has the format that the framework gives it: that of the first input, or what the
///   operator's rule says.
/// Errors: throws NoKernel "file:line: ..." if no kernel takes a node.
PhysicalGraph plan_formats(const LogicalGraph& logical, const Variants& variants,
                           const FrameworkRules& rules);

}  // namespace opbench
