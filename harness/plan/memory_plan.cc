#include "harness/plan/memory_plan.h"

#include <algorithm>
#include <map>
#include <set>

#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::size_t kAlignment = 64;  // a cache line, and the widest vector register
constexpr std::size_t kHugePage = std::size_t{2} << 20, kLargeTensor = std::size_t{1} << 20;
/// Larger than the memory of any machine, and small enough that sums of a few plans do not
/// overflow.
constexpr std::size_t kMostBytes = std::size_t{1} << 60;

/// Free list of a growing allocation.
class Gaps {
 public:
  std::size_t take(std::size_t bytes) {
    const auto found = by_size_.lower_bound({bytes, 0});
    if (found == by_size_.end()) return grow(bytes);
    const auto [size, offset] = *found;
    erase(offset, size);
    if (size > bytes) insert(offset + bytes, size - bytes);
    return offset;
  }

  // Frees a range and joins it with its free neighbours.
  void give_back(std::size_t offset, std::size_t bytes) {
    auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.end() && next->first == offset + bytes) {
      const std::size_t size = next->second;
      erase(next->first, size);
      bytes += size;
    }
    auto before = by_offset_.lower_bound(offset);
    if (before != by_offset_.begin() && (--before)->first + before->second == offset) {
      const std::size_t start = before->first;
      bytes += before->second;
      erase(start, before->second);
      offset = start;
    }
    insert(offset, bytes);
  }

  std::size_t end() const { return end_; }

 private:
  // Extends the allocation. A free range at its end is extended.
  std::size_t grow(std::size_t bytes) {
    std::size_t offset = end_;
    if (!by_offset_.empty()) {
      const auto last = std::prev(by_offset_.end());
      if (last->first + last->second == end_) {
        offset = last->first;
        erase(last->first, last->second);
      }
    }
    end_ = offset + bytes;
    return offset;
  }

  void insert(std::size_t offset, std::size_t bytes) {
    by_offset_[offset] = bytes;
    by_size_.insert({bytes, offset});
  }
  void erase(std::size_t offset, std::size_t bytes) {
    by_size_.erase({bytes, offset});
    by_offset_.erase(offset);
  }

  std::size_t end_ = 0;
  std::map<std::size_t, std::size_t> by_offset_;           // offset -> bytes
  std::set<std::pair<std::size_t, std::size_t>> by_size_;  // (bytes, offset)
};

std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Bytes of a tensor with its share of guard zones.
std::size_t room_for(const TensorDesc& desc, std::size_t slack) {
  return round_up(desc.bytes(), kAlignment) + slack + 2 * MemoryPlan::kGuardBytes;
}

// The last node that uses each tensor; none for tensors that live for the whole call.
std::vector<std::size_t> last_uses(const Graph& graph) {
  std::vector<std::size_t> last(graph.tensors.size(), Node::kNone);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    for (const auto* list : {&node.inputs, &node.outputs}) {
      for (const std::size_t tensor : *list) {
        if (graph.tensors[tensor].role == GraphTensor::intermediate) last[tensor] = n;
      }
    }
  }
  return last;
}

}  // namespace

MemoryPlan plan_memory(const Graph& graph, std::size_t slack) {
  MemoryPlan plan;
  plan.slack = slack;
  plan.offsets.resize(graph.tensors.size());
  Gaps gaps;
  const auto place = [&](std::size_t tensor) {
    const std::size_t room = room_for(graph.tensors[tensor].desc, slack);
    plan.offsets[tensor] = gaps.take(room) + MemoryPlan::kGuardBytes;
    plan.unshared_bytes += room;
    if (room > kMostBytes || plan.unshared_bytes > kMostBytes) {
      throw Error("the tensors of the graph need more than 2^60 bytes");
    }
  };
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    if (graph.tensors[i].role != GraphTensor::intermediate) place(i);
  }
  const std::vector<std::size_t> last = last_uses(graph);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    for (const std::size_t tensor : node.outputs) {
      if (graph.tensors[tensor].role == GraphTensor::intermediate) place(tensor);
    }
    std::vector<std::size_t> dead;
    for (const auto* list : {&node.inputs, &node.outputs}) {
      for (const std::size_t tensor : *list) {
        if (last[tensor] == n) dead.push_back(tensor);
      }
    }
    std::sort(dead.begin(), dead.end());
    dead.erase(std::unique(dead.begin(), dead.end()), dead.end());
    for (const std::size_t tensor : dead) {
      gaps.give_back(plan.offsets[tensor] - MemoryPlan::kGuardBytes,
                     room_for(graph.tensors[tensor].desc, slack));
    }
  }
  plan.bytes = gaps.end();
  return plan;
}

MemoryPlan plan_apart(const Graph& graph, std::size_t slack) {
  MemoryPlan plan;
  plan.slack = slack;
  for (const GraphTensor& tensor : graph.tensors) {
    const bool is_large = tensor.desc.bytes() >= kLargeTensor;
    const std::size_t offset =
        round_up(plan.bytes + MemoryPlan::kGuardBytes, is_large ? kHugePage : kAlignment);
    plan.offsets.push_back(offset);
    plan.bytes =
        offset + round_up(tensor.desc.bytes(), kAlignment) + slack + MemoryPlan::kGuardBytes;
  }
  plan.unshared_bytes = plan.bytes;
  return plan;
}

// splitmix64 (Steele, Lea, Flood 2014).
std::size_t layout_shift(std::uint64_t layout, std::size_t tensor) {
  if (layout == 0) return 0;
  std::uint64_t z = layout * 0xD1342543DE82EF95 + (tensor + 1) * 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  z ^= z >> 31;
  return z % (MemoryPlan::kPage / kAlignment) * kAlignment;
}

}  // namespace opbench
