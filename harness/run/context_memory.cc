#include "harness/run/context_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "harness/run/timing.h"
#include "tensor/checksum.h"
#include "tensor/error.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr int kPoison = 0xFF;  // NaN in every floating dtype

// An input that an operator bounds, such as an index, must obey it.
void check_values(const PlannedStep& step, const TensorStorage& storage) {
  for (const Node& node : step.graph.nodes) {
    if (node.problem.op->check_values == nullptr) continue;
    std::vector<InputReader> inputs;
    bool is_given = true;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      inputs.emplace_back(node.problem.inputs[i], storage(node.inputs[i]));
      // Only what the file fills can be refused; an index that is computed is not there yet.
      const bool is_own = node.problem.op->input(i).has_own_dtype();
      if (is_own && step.graph.tensors[node.inputs[i]].is_computed()) is_given = false;
    }
    if (!is_given) continue;
    try {
      node.problem.op->check_values(node.problem, inputs);
    } catch (const Error& error) {
      throw Error(
          fmt::format("{}{}{}", node.origin, node.origin.empty() ? "" : ": ", error.what()));
    }
  }
}

}  // namespace

TensorStorage ContextMemory::storage_of(const PlannedStep& step) const {
  return [this, &step](std::size_t tensor) -> void* { return at(step, tensor); };
}

void ContextMemory::fill_tensor(const GraphTensor& tensor, std::uint64_t seed,
                                std::byte* to) const {
  const TensorDesc& desc = tensor.desc;
  switch (tensor.role) {
    case GraphTensor::input:
    case GraphTensor::parameter:
      return fill(desc, to, tensor.data, seed ^ text_hash(tensor.name));
    case GraphTensor::gradient_seed:
      return fill(desc, to, {DistributionKind::constant, tensor.seed, 0}, 0);
    case GraphTensor::constant: {
      const std::vector<double> index(tensor.index.begin(), tensor.index.end());
      return from_doubles(desc.dtype, index.data(), std::ssize(index), to);
    }
    default:
      return fill_bytes(to, 0, desc.bytes());
  }
}

void ContextMemory::load(const PlannedStep& step, std::uint64_t seed) const {
  for (std::size_t i = 0; i < step.graph.tensors.size(); ++i) {
    const GraphTensor& tensor = step.graph.tensors[i];
    if (!tensor.is_computed()) fill_tensor(tensor, seed, at(step, i));
  }
  check_values(step, storage_of(step));
}

void ContextMemory::evict() const { evict_from_caches(buffer_.data(), buffer_.size()); }

std::uint64_t ContextMemory::given_checksum(const PlannedStep& step) const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < step.graph.tensors.size(); ++i) {
    const GraphTensor& tensor = step.graph.tensors[i];
    if (!tensor.is_computed()) sum = sum * 31 + checksum(at(step, i), tensor.desc.bytes());
  }
  return sum;
}

void ContextMemory::poison(const PlannedStep& step, std::size_t tensor) const {
  const std::size_t bytes = step.graph.tensors[tensor].desc.bytes();
  std::byte* data = at(step, tensor);
  fill_bytes(data, kPoison, bytes);
  write_guards(data, bytes);
}

bool ContextMemory::guards_intact(const PlannedStep& step, std::size_t tensor) const {
  return opbench::guards_intact(at(step, tensor), step.graph.tensors[tensor].desc.bytes());
}

}  // namespace opbench
