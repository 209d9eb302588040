#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/graph.h"

namespace opbench {

/// The memory of one graph and the data in it. All variants of a case share it, so memory does not
/// grow with them.
class Workspace {
 public:
  /// Allocates every tensor of the graph. Errors: throws RunError if memory does not suffice.
  explicit Workspace(const Graph& graph);

  /// Fills the inputs with data of the case's distribution, seeded by `seed`; the seed of the
  /// backward pass with 1.
  void fill_inputs(const DataSpec& data, std::uint64_t seed);

  /// Mixes corner values into the inputs (NaN and Inf only where `with_nonfinite`) and raises the
  /// seed of the backward pass to the number of elements, so that gradients are not lost to
  /// underflow. Call after `fill_inputs` with the same arguments; may be called again with another
  /// flag.
  void add_corner_values(const DataSpec& data, std::uint64_t seed, bool with_nonfinite);

  /// Undoes `add_corner_values`.
  void remove_corner_values(const DataSpec& data, std::uint64_t seed);

  /// Fills everything that is computed with NaN (0xFF bytes), so that an element nobody writes is
  /// seen.
  void poison_results();

  /// Fingerprint of the inputs.
  std::uint64_t input_checksum() const;

  /// Empty, or the name of a tensor around which something was written.
  std::string damaged_guard() const;
  void restore_guards();

  const Graph& graph() const { return *graph_; }
  void* data(std::size_t tensor) const { return tensors_[tensor].data(); }

 private:
  void write_corners(std::size_t tensor, const DataSpec& data, std::uint64_t seed,
                     bool with_corners, bool with_nonfinite);
  void write_gradient_seeds(bool scaled);

  const Graph* graph_;
  std::vector<Tensor> tensors_;
};

/// A graph bound to memory and kernels: `run` computes every node in order.
class BoundGraph {
 public:
  /// Prepares the kernels for `threads` threads. Errors: whatever a kernel throws.
  BoundGraph(const Workspace& workspace, const Selection& selection, int threads);

  /// Call inside `with_threads` of the same number of threads.
  void run() const;

 private:
  struct Call {
    Launch launch;
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
  };
  std::vector<Call> calls_;
};

}  // namespace opbench
