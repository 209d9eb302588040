#include "harness/run/bound_graph.h"

#include <optional>
#include <utility>

#include "kernels/call_clock.h"
#include "tensor/half.h"
#include "tensor/parallel.h"

namespace opbench {

BoundGraph::BoundGraph(const Graph& graph, std::span<const Kernel* const> kernels,
                       const TensorStorage& storage, int threads, bool saturates, ScratchPool* pool)
    : calls_(graph.nodes.size()), saturates_(saturates) {
  with_threads(threads, [&] {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      std::optional<ScratchPool::User> user;
      if (pool != nullptr) user.emplace(*pool);
      calls_[i].launch = kernels[i]->prepare(graph.nodes[i].problem);
    }
  });
  bind(graph, storage);
}

void BoundGraph::bind(const Graph& graph, const TensorStorage& storage) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    Call call;
    call.launch = std::move(calls_[i].launch);
    for (const std::size_t input : node.inputs) call.inputs.push_back(storage(input));
    for (const std::size_t output : node.outputs) {
      call.outputs.push_back(storage(output));
      const TensorDesc& desc = graph.tensors[output].desc;
      if (saturates_ && desc.dtype == DType::fp16) {
        call.halves.push_back({storage(output), desc.storage_elements()});
      }
    }
    if (saturates_ && node.problem.op->context.reads_overflow_status) {
      call.status = static_cast<float*>(storage(node.outputs[0]));
    }
    if (node.unless != Node::kNone) call.unless = static_cast<const float*>(storage(node.unless));
    calls_[i] = std::move(call);
  }
}

void BoundGraph::launch(std::size_t node) const {
  const Call& call = calls_[node];
  if (node == 0) has_saturated_ = false;
  node_has_saturated_ = false;
  if (is_skipped(call)) return;
  call.launch({call.inputs, call.outputs});
  for (const Half& stored : call.halves) {
    node_has_saturated_ |= saturate_fp16(stored.data, stored.elements);
  }
  has_saturated_ |= node_has_saturated_;
  if (call.status != nullptr && has_saturated_) *call.status = 1;
}

void BoundGraph::run_node(std::size_t node) const {
  if (node != called_) return launch(node);
  const CallClock clock;
  launch(node);
  first_call_us_ += 1e6 * clock.seconds();
  ++called_;
}

void BoundGraph::run(NodeTimes& times) const {
  const CallClock clock;
  double before = 0;
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    launch(i);
    const double after = clock.seconds();
    times.us[i] += 1e6 * (after - before);
    before = after;
  }
  ++times.runs;
}

}  // namespace opbench
