#include "harness/run/workspace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "harness/run/timing.h"
#include "tensor/buffer.h"
#include "tensor/error.h"

namespace opbench {
namespace {

// False if an input with bounds, such as an index, is computed: it is not available yet.
bool is_given(const Graph& graph, const Node& node) {
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const bool is_index =
        node.problem.op->input(i).has_own_dtype() || !is_floating(node.problem.inputs[i].dtype);
    if (is_index && graph.tensors[node.inputs[i]].is_computed()) return false;
  }
  return true;
}

void check_values(const Graph& graph, const TensorStorage& storage) {
  for (const Node& node : graph.nodes) {
    if (node.problem.op->check_values == nullptr || !is_given(graph, node)) continue;
    std::vector<InputReader> inputs;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      inputs.emplace_back(node.problem.inputs[i], storage(node.inputs[i]));
    }
    try {
      node.problem.op->check_values(node.problem, inputs);
    } catch (const Error& error) {
      throw Error(
          fmt::format("{}{}{}", node.origin, node.origin.empty() ? "" : ": ", error.what()));
    }
  }
}

}  // namespace

Workspace::Workspace(std::size_t bytes, int copies)
    : bytes_((bytes + MemoryPlan::kPage - 1) / MemoryPlan::kPage * MemoryPlan::kPage),
      copies_(static_cast<std::size_t>(copies)),
      buffer_(copies_ * bytes_ + MemoryPlan::kPage) {
  void* begin = buffer_.data();
  std::size_t space = buffer_.size();
  begin_ = static_cast<std::byte*>(std::align(MemoryPlan::kPage, bytes, begin, space));
}

void Workspace::move(std::uint64_t layout, const UnitVariant* loaded) {
  const std::uint64_t before = std::exchange(layout_, layout);
  if (loaded == nullptr) return;
  for (std::size_t i = 0; i < loaded->graph->tensors.size(); ++i) {
    if (loaded->graph->tensors[i].is_computed()) continue;
    std::byte* const to = at(*loaded, i, layout);
    std::memmove(to, at(*loaded, i, before), bytes_of(*loaded, i));
    write_guards(to, bytes_of(*loaded, i));
  }
}

TensorStorage Workspace::storage_of(const UnitVariant& variant) const {
  return [this, variant](std::size_t tensor) { return at(variant, tensor); };
}

void Workspace::fill_tensor(const UnitVariant& variant, std::size_t tensor,
                            std::uint64_t seed) const {
  const GraphTensor& given = variant.graph->tensors[tensor];
  void* to = at(variant, tensor);
  switch (given.role) {
    case GraphTensor::input:
      if (variant.inputs != nullptr) return variant.inputs->fill(tensor, given.desc, to);
      [[fallthrough]];
    case GraphTensor::parameter:
    case GraphTensor::gradient_seed:
      return fill(given.desc, to, given.data, variant.seed_of(tensor, seed));
    case GraphTensor::constant: {
      const std::vector<double> index(given.index.begin(), given.index.end());
      return from_doubles(given.desc.dtype, index.data(), std::ssize(index), to);
    }
    default:
      return fill_bytes(to, 0, given.desc.bytes());
  }
}

void Workspace::load(const UnitVariant& variant, std::uint64_t seed) const {
  for (std::size_t i = 0; i < variant.graph->tensors.size(); ++i) {
    if (variant.graph->tensors[i].is_computed()) continue;
    write_guards(at(variant, i), bytes_of(variant, i));
    fill_tensor(variant, i, seed);
  }
  check_values(*variant.graph, storage_of(variant));
}

std::uint64_t Workspace::fingerprint(const UnitVariant& variant, std::size_t tensor) const {
  return checksum(at(variant, tensor), bytes_of(variant, tensor));
}

std::uint64_t Workspace::given_fingerprint(const UnitVariant& variant) const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < variant.graph->tensors.size(); ++i) {
    if (!variant.graph->tensors[i].is_computed()) sum = sum * 31 + fingerprint(variant, i);
  }
  return sum;
}

std::uint64_t Workspace::result_fingerprint(const UnitVariant& variant) const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < variant.graph->tensors.size(); ++i) {
    if (variant.graph->tensors[i].role != GraphTensor::output) continue;
    sum = (sum * 31) ^ fingerprint(variant, i);
  }
  return sum;
}

void Workspace::poison(const UnitVariant& variant, std::size_t tensor, int byte) const {
  fill_bytes(at(variant, tensor), byte, bytes_of(variant, tensor));
  write_guards(at(variant, tensor), bytes_of(variant, tensor));
}

void Workspace::surround(const UnitVariant& variant, std::size_t tensor, int byte) const {
  auto* const begin = static_cast<std::byte*>(at(variant, tensor));
  std::memset(begin - Buffer::kGuardBytes, byte, Buffer::kGuardBytes);
  std::memset(begin + bytes_of(variant, tensor), byte, Buffer::kGuardBytes);
}

void Workspace::restore_guards(const UnitVariant& variant, std::size_t tensor) const {
  write_guards(at(variant, tensor), bytes_of(variant, tensor));
}

bool Workspace::guards_intact(const UnitVariant& variant, std::size_t tensor) const {
  return opbench::guards_intact(at(variant, tensor), bytes_of(variant, tensor));
}

void Workspace::evict(const UnitVariant& variant) const {
  std::vector<std::pair<std::size_t, std::size_t>> parts;  // begin, end
  for (std::size_t i = 0; i < variant.graph->tensors.size(); ++i) {
    const auto begin = static_cast<std::size_t>(at(variant, i, layout_) - begin_);
    parts.emplace_back(begin, begin + bytes_of(variant, i));
  }
  std::sort(parts.begin(), parts.end());
  std::size_t done = 0;  // memory is used more than once
  for (const auto& [begin, end] : parts) {
    const std::size_t first = std::max(begin, done);
    if (first >= end) continue;
    evict_from_caches(begin_ + first, end - first);
    done = end;
  }
}

}  // namespace opbench
