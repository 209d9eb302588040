#include "harness/plan/plan_cost.h"

#include <tuple>

#include "harness/plan/task_names.h"

namespace opbench {

std::partial_ordering PlanCost::operator<=>(const PlanCost& other) const {
  return std::tie(trans_data, casts, copies, bytes) <=>
         std::tie(other.trans_data, other.casts, other.copies, other.bytes);
}

PlanCost& PlanCost::operator+=(const PlanCost& other) {
  trans_data += other.trans_data;
  casts += other.casts;
  copies += other.copies;
  bytes += other.bytes;
  trans_data_bytes += other.trans_data_bytes;
  return *this;
}

PlanCost task_cost(const Node& node, const Kernel& kernel) {
  PlanCost cost;
  cost.bytes = node.problem.op->traffic(node.problem).bytes();
  const Conversion conversion = node.problem.op->context.conversion;
  if (conversion == Conversion::format) {
    cost.trans_data = 1;
    cost.trans_data_bytes = cost.bytes;
  }
  if (conversion == Conversion::dtype) cost.casts = 1;
  if (is_copy(node, kernel)) cost.copies = 1;
  return cost;
}

PlanCost plan_cost(const Graph& graph, const Selection& selection) {
  PlanCost sum;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    sum += task_cost(graph.nodes[i], *selection.kernels[i]);
  }
  return sum;
}

}  // namespace opbench
