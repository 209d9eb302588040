#pragma once

#include <compare>
#include <string>
#include <vector>

#include "harness/plan/graph.h"
#include "harness/plan/selected_kernels.h"

namespace opbench {

/// What a profiler would call a task: the device operator that the kernel stands for ("Conv2D",
/// "GatherV2"), "contiguous" for the framework's copies of views, else the operator's name.
std::string task_type(const Node& node, const Kernel& kernel);

/// The inputs or outputs of a task for a reader, with commas between them.
std::string tensors_text(const std::vector<TensorDesc>& tensors);

/// True for tasks that make a view dense: copies that a rewrite would spare.
bool is_copy(const Node& node, const Kernel& kernel);

/// What a plan does beside the operators that it is for, and what all of it moves. It follows from
/// the plan alone: exact, and the same on every machine.
struct PlanCost {
  int trans_data = 0;
  int casts = 0;
  int copies = 0;               ///< of non-contiguous tensors
  double bytes = 0;             ///< read and written by all tasks
  double trans_data_bytes = 0;  ///< the share of TransData

  /// Fewer TransData come first; where they are as many, fewer Cast, then copies, then bytes.
  std::partial_ordering operator<=>(const PlanCost& other) const;
  bool operator==(const PlanCost& other) const { return (*this <=> other) == 0; }

  PlanCost& operator+=(const PlanCost& other);
};

/// Of one task.
PlanCost task_cost(const Node& node, const Kernel& kernel);

/// Of all tasks of a plan.
PlanCost plan_cost(const Graph& graph, const SelectedKernels& selection);

}  // namespace opbench
