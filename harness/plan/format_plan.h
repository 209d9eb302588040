#pragma once

#include <map>
#include <string>

#include "harness/plan/context_graph.h"
#include "harness/plan/lowering.h"
#include "harness/plan/selection.h"
#include "tensor/error.h"

namespace opbench {

/// A graph whose tensors have storage formats: every node has its kernel and gets its inputs as
/// the kernel takes them, through TransData and Cast nodes where they come otherwise.
struct PhysicalGraph {
  Graph graph;
  Selection selection;
  std::vector<std::size_t> results;  ///< those of the logical graph, in order
};

/// No kernel takes a node of the step.
class NoKernel : public Error {
 public:
  using Error::Error;
};

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
