#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <vector>

#include "harness/plan/graph.h"
#include "kernels/simd/scratch.h"

namespace opbench {

/// Address of a tensor's storage.
using TensorStorage = std::function<void*(std::size_t tensor)>;

/// Collects the time of each node over any number of runs.
struct NodeTimes {
  std::vector<double> us;  ///< by node, summed over the runs
  std::int64_t runs = 0;

  void reset(std::size_t nodes) {
    us.assign(nodes, 0);
    runs = 0;
  }
};

/// A graph bound to memory and kernels. `run` computes every node in order and allocates nothing.
class BoundGraph {
 public:
  /// Prepares the kernels for `threads` threads. With `saturates`, fp16 outputs are those of a
  /// device without Inf and NaN: Inf becomes the largest finite value, and NaN becomes 0. With a
  /// pool, all nodes share its memory for their temporaries.
  /// Errors: throws the errors of the kernels.
  BoundGraph(const Graph& graph, std::span<const Kernel* const> kernels,
             const TensorStorage& storage, int threads, bool saturates = false,
             ScratchPool* pool = nullptr);

  /// Binds the same graph to other memory for its tensors. The kernels stay prepared.
  void bind(const Graph& graph, const TensorStorage& storage);

  std::size_t size() const { return calls_.size(); }

  /// Runs all nodes. Call inside `with_threads` of the same number of threads.
  void run() const {
    for (std::size_t i = 0; i < calls_.size(); ++i) launch(i);
  }

  /// Like `run()`, and adds the time of each node.
  void run(NodeTimes& times) const;

  /// Runs a single node. All nodes must be run in order. Measures the first call of each.
  void run_node(std::size_t node) const;
  /// Time of the first call of all nodes by `run_node`; 0 before it.
  double first_call_us() const { return called_ == calls_.size() ? first_call_us_ : 0; }

  /// True if the node's flag includes the device's status register: the flag is also set if any
  /// node since the first has saturated.
  bool reads_status(std::size_t node) const { return calls_[node].status != nullptr; }

  /// True if any node since the first has saturated.
  bool has_saturated() const { return has_saturated_; }

  /// True if the last node that ran has saturated: with `saturates`, it computed Inf or NaN in
  /// fp16.
  bool node_has_saturated() const { return node_has_saturated_; }

  /// True if the node's flag says to skip it.
  bool is_skipped(std::size_t node) const { return is_skipped(calls_[node]); }

 private:
  struct Half {
    void* data;
    std::int64_t elements;
  };
  struct Call {
    Launch launch;
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    const float* unless = nullptr;
    std::vector<Half> halves;  ///< outputs to saturate
    float* status = nullptr;   ///< flag to set if anything has saturated
  };

  static bool is_skipped(const Call& call) { return call.unless != nullptr && *call.unless != 0; }
  void launch(std::size_t node) const;

  std::vector<Call> calls_;
  bool saturates_;
  mutable double first_call_us_ = 0;  // of the nodes that were called
  mutable std::size_t called_ = 0;
  mutable bool has_saturated_ = false;  // the status register
  mutable bool node_has_saturated_ = false;
};

}  // namespace opbench
