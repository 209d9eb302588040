#include "harness/run/random_sums.h"

#include <cmath>
#include <string_view>

#include "harness/run/judge_node.h"

namespace opbench {
namespace {

// Operators that hand values on as they are, but for a factor.
bool hands_on(std::string_view op) {
  return op == "cast" || op == "trans_data" || op == "reshape" || op == "muls";
}

}  // namespace

// Tensors become results directly or through operators that hand values on.
RandomSums::RandomSums(const Runnable& runnable) : leads_(runnable.graph->tensors.size()) {
  if (runnable.step == nullptr) return;
  for (const std::size_t tensor : runnable.step->results) leads_[tensor] = true;
  const std::vector<Node>& nodes = runnable.graph->nodes;
  for (std::size_t n = nodes.size(); n-- > 0;) {
    const Node& node = nodes[n];
    if (hands_on(node.problem.op->name) && leads_[node.outputs[0]]) leads_[node.inputs[0]] = true;
  }
}

void RandomSums::add(const Node& node, const TensorStorage& storage) {
  if (hands_on(node.problem.op->name)) {
    const auto found = sums_.find(node.inputs[0]);
    if (found == sums_.end()) return;
    const bool is_scaled = node.problem.op->name == "muls";
    const double factor = is_scaled ? std::fabs(node.problem.attrs.number("value")) : 1;
    sums_[node.outputs[0]] = factor * found->second;
    return;
  }
  if (!node.problem.op->mixes_elements) return;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (!leads_[node.outputs[i]]) continue;
    sums_[node.outputs[i]] = random_sum(node, storage, node.problem.outputs[i]);
  }
}

}  // namespace opbench
