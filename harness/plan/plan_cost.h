#pragma once

#include <compare>

#include "harness/plan/graph.h"
#include "harness/plan/selection.h"

namespace opbench {

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
PlanCost plan_cost(const Graph& graph, const Selection& selection);

}  // namespace opbench
