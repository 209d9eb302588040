#pragma once

#include <cstdint>
#include <string>

#include "harness/plan/context_plan.h"
#include "harness/run/bound_graph.h"
#include "tensor/buffer.h"

namespace opbench {

/// The memory that the steps of a context use in turn.
class ContextMemory {
 public:
  /// Errors: throws RunError if the memory is not to be had.
  explicit ContextMemory(std::size_t bytes) : buffer_(bytes) {}

  /// Where the tensors of `step` lie. Valid while both live.
  TensorStorage storage_of(const PlannedStep& step) const;

  /// Fills what is given to the step: inputs and parameters by their distributions, each from a
  /// stream of its own that `seed` and its name choose, so that all steps get the same values;
  /// constants, zeros and the seeds of the backward pass with what they hold.
  /// Errors: throws Error if an operator refuses the values.
  void load(const PlannedStep& step, std::uint64_t seed) const;

  /// Fingerprint of all that `load` filled.
  std::uint64_t given_checksum(const PlannedStep& step) const;

  /// NaN bytes over a tensor, and fresh guard zones around it.
  void poison(const PlannedStep& step, std::size_t tensor) const;
  /// False if something wrote around it since.
  bool guards_intact(const PlannedStep& step, std::size_t tensor) const;

  /// Writes all of it back to memory, out of the caches.
  void evict() const;

 private:
  std::byte* at(const PlannedStep& step, std::size_t tensor) const {
    return static_cast<std::byte*>(buffer_.data()) + step.memory.offsets[tensor];
  }
  void fill_tensor(const GraphTensor& tensor, std::uint64_t seed, std::byte* to) const;

  Buffer buffer_;
};

}  // namespace opbench
