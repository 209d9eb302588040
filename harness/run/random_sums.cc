#include "harness/run/random_sums.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tensor/elements.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

// Sum over the elements, in the order of blocks.
template <class OfBlock>
double sum_over(const TensorDesc& desc, OfBlock of_block) {
  std::vector<double> parts(static_cast<std::size_t>(block_count(desc)));
  parallel_blocks(std::ssize(parts), [&](std::int64_t i) {
    parts[static_cast<std::size_t>(i)] = of_block(block(desc, i));
  });
  double sum = 0;
  for (const double part : parts) sum += part;
  return sum;
}

// Root mean square of the finite values.
double magnitude(const TensorDesc& desc, const void* storage) {
  if (desc.elements() == 0) return 0;
  const double sum = sum_over(desc, [&](ElementRange range) {
    thread_local std::vector<double> values;
    values.resize(static_cast<std::size_t>(range.count));
    read_doubles(desc, storage, range, values);
    double squares = 0;
    for (const double value : values) squares += std::isfinite(value) ? value * value : 0;
    return squares;
  });
  return std::sqrt(sum / static_cast<double>(desc.elements()));
}

// The expected size of an element of `output` if its terms had random signs and the magnitude of
// the first floating input. An element far below it has cancelled.
double random_sum(const Node& node, const TensorStorage& storage, const TensorDesc& output) {
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const TensorDesc& desc = node.problem.inputs[i];
    if (!is_floating(desc.dtype)) continue;
    const double terms = static_cast<double>(desc.elements()) /
                         static_cast<double>(std::max<std::int64_t>(1, output.elements()));
    return magnitude(desc, storage(node.inputs[i])) * std::sqrt(std::max(1.0, terms));
  }
  return 0;
}

}  // namespace

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
