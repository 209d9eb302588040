#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "harness/plan/graph.h"
#include "harness/run/bound_graph.h"

namespace opbench {

/// The memory of one graph and the data in it. All variants of a case share it, so memory does not
/// grow with them.
class Workspace {
 public:
  /// Allocates every tensor of the graph. Errors: throws RunError if memory does not suffice.
  explicit Workspace(const Graph& graph);

  /// Fills input i from `data[i]`, seeded by `seed`; the seeds of the backward pass with 1.
  /// Errors: throws Error if the operator refuses the values.
  void fill_inputs(std::span<const Distribution> data, std::uint64_t seed);

  /// Mixes corner values into the inputs: those of `range` and no larger than `largest`, since one
  /// large term would drown the others where a graph adds elements up. Raises the seeds of the
  /// backward pass to the number of elements, so that gradients are not lost to underflow. Call
  /// after `fill_inputs` with the same arguments; may be called again with another range.
  void add_corner_values(std::span<const Distribution> data, std::uint64_t seed, InputRange range,
                         double largest);

  /// Undoes `add_corner_values`.
  void remove_corner_values(std::span<const Distribution> data, std::uint64_t seed);

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
  TensorStorage storage() const {
    return [this](std::size_t tensor) { return data(tensor); };
  }

 private:
  /// A corner value, or what was filled in where `is_wanted` refuses it, in each corner's place.
  void write_corners(std::size_t tensor, const Distribution& data, std::uint64_t seed,
                     const std::function<bool(double corner)>& is_wanted);
  bool has_corners(std::size_t tensor) const;
  void write_gradient_seeds(bool scaled);

  const Graph* graph_;
  std::vector<Tensor> tensors_;
};

}  // namespace opbench
