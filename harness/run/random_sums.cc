#include "harness/run/random_sums.h"

#include <cmath>

#include "harness/run/judge_node.h"

namespace opbench {

// Tensors become results directly or through operators that hand values on.
RandomSums::RandomSums(const Runnable& runnable) : leads_(runnable.graph->tensors.size()) {
  if (runnable.step == nullptr) return;
  for (const std::size_t tensor : runnable.step->results) leads_[tensor] = true;
  const std::vector<Node>& nodes = runnable.graph->nodes;
  for (std::size_t n = nodes.size(); n-- > 0;) {
    const Node& node = nodes[n];
    const bool hands_on = node.problem.op->context.factor != nullptr;
    if (hands_on && leads_[node.outputs[0]]) leads_[node.inputs[0]] = true;
  }
}

void RandomSums::add(const Node& node, const TensorStorage& storage) {
  if (const auto factor = node.problem.op->context.factor; factor != nullptr) {
    const auto found = sums_.find(node.inputs[0]);
    if (found == sums_.end()) return;
    sums_[node.outputs[0]] = std::fabs(factor(node.problem.attrs)) * found->second;
    return;
  }
  if (!node.problem.op->mixes_elements()) return;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (!leads_[node.outputs[i]]) continue;
    sums_[node.outputs[i]] = random_sum(node, storage, node.problem.outputs[i]);
  }
}

}  // namespace opbench
