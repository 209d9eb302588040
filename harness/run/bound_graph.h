#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <vector>

#include "harness/plan/graph.h"
#include "kernels/simd/scratch.h"

namespace opbench {

/// The storage of a tensor of a graph.
using TensorStorage = std::function<void*(std::size_t tensor)>;

/// Collects how long each node took, over any number of runs.
struct NodeTimes {
  std::vector<double> us;  ///< by node, summed over the runs
  std::int64_t runs = 0;

  void reset(std::size_t nodes) {
    us.assign(nodes, 0);
    runs = 0;
  }
};

/// A graph bound to memory and kernels: `run` computes every node in order and allocates nothing.
class BoundGraph {
 public:
  /// Prepares the kernels for `threads` threads. With `saturates`, what a node writes in fp16
  /// becomes what a device without Inf and NaN leaves there: the largest finite value, and 0.
  /// With a pool all nodes have their temporaries there, one after the other.
  /// Errors: whatever a kernel throws.
  BoundGraph(const Graph& graph, std::span<const Kernel* const> kernels,
             const TensorStorage& storage, int threads, bool saturates = false,
             ScratchPool* pool = nullptr);

  /// Takes other memory for the tensors of the same graph; the kernels stay as they are.
  void bind(const Graph& graph, const TensorStorage& storage);

  std::size_t size() const { return calls_.size(); }

  /// All nodes. Call inside `with_threads` of the same number of threads.
  void run() const {
    for (std::size_t i = 0; i < calls_.size(); ++i) launch(i);
  }

  /// The same, and adds up each node's time.
  void run(NodeTimes& times) const;

  /// One node alone; all of them have to be run in order.
  void run_node(std::size_t node) const { launch(node); }

  /// True where the node's flag is not only its kernel's: it is also raised if anything has
  /// saturated since the first node, as a device's status register tells.
  bool reads_status(std::size_t node) const { return calls_[node].status != nullptr; }

  /// True if anything has saturated since the first node.
  bool has_saturated() const { return has_saturated_; }

  /// True if the node that ran last has saturated: with `saturates`, it computed Inf or NaN in
  /// fp16.
  bool node_has_saturated() const { return node_has_saturated_; }

  /// True if the node's flag says to leave it out.
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
    float* status = nullptr;   ///< flag to raise if anything has saturated
  };

  static bool is_skipped(const Call& call) { return call.unless != nullptr && *call.unless != 0; }
  void launch(std::size_t node) const;

  std::vector<Call> calls_;
  bool saturates_;
  mutable bool has_saturated_ = false;  // the status register
  mutable bool node_has_saturated_ = false;
};

}  // namespace opbench
