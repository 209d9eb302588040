#pragma once

#include <compare>
#include <string>
#include <vector>

#include "harness/plan/graph.h"
#include "harness/plan/selected_kernels.h"

namespace opbench {

/// Type of a task as a profiler reports it: the device operator of the kernel ("Conv2D",
/// "GatherV2"), "contiguous" for the framework's copies of views, else the operator's name.
std::string task_type(const Node& node, const Kernel& kernel);

/// The inputs or outputs of a task as text, separated by commas.
std::string tensors_text(const std::vector<TensorDesc>& tensors);

/// True for tasks that make a view dense. A rewrite can avoid these copies.
bool is_copy(const Node& node, const Kernel& kernel);

/// Overhead of a plan, in addition to its operators, and the bytes that all tasks move. It follows
/// from the plan alone, so it is exact and equal on every machine.
struct PlanCost {
  int trans_data = 0;
  int casts = 0;
  int copies = 0;               ///< of non-contiguous tensors
  double bytes = 0;             ///< read and written by all tasks
  double trans_data_bytes = 0;  ///< the share of TransData in `bytes`

  /// Orders by TransData, then Cast, then copies, then bytes.
  std::partial_ordering operator<=>(const PlanCost& other) const;
  bool operator==(const PlanCost& other) const { return (*this <=> other) == 0; }

  PlanCost& operator+=(const PlanCost& other);
};

/// Cost of one task.
PlanCost task_cost(const Node& node, const Kernel& kernel);

/// Cost of all tasks of a plan.
PlanCost plan_cost(const Graph& graph, const SelectedKernels& selection);

}  // namespace opbench
