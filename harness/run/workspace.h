#pragma once

#include <cstdint>

#include "harness/run/bound_graph.h"
#include "harness/run/item.h"
#include "tensor/buffer.h"

namespace opbench {

/// Memory in which the runnables of an item take turns. Each lays its tensors out by its plan.
class Workspace {
 public:
  /// Errors: throws RunError if the memory is not to be had.
  explicit Workspace(std::size_t bytes) : buffer_(bytes) {}

  void* at(const Runnable& runnable, std::size_t tensor) const {
    return static_cast<std::byte*>(buffer_.data()) + runnable.memory->offsets[tensor];
  }
  /// Where the tensors lie. Valid while the workspace lives and `runnable`'s plan stays.
  TensorStorage storage_of(const Runnable& runnable) const;

  /// Fills what the graph is given and writes guard zones around it: inputs and parameters by their
  /// distributions, each from a stream of its own; constants, zeros and the seeds of the backward
  /// pass with what they hold. Errors: throws Error if an operator refuses the values.
  void load(const Runnable& runnable, std::uint64_t seed) const;

  /// Fingerprint of one tensor, and of all that `load` filled.
  std::uint64_t fingerprint(const Runnable& runnable, std::size_t tensor) const;
  std::uint64_t given_fingerprint(const Runnable& runnable) const;

  /// NaN bytes over a tensor, so that an element nobody writes is seen, and fresh guard zones.
  void poison(const Runnable& runnable, std::size_t tensor) const;
  /// Other bytes than usual in the guard zones of a tensor, and the usual again.
  void surround(const Runnable& runnable, std::size_t tensor, int byte) const;
  void restore_guards(const Runnable& runnable, std::size_t tensor) const;
  /// False if something wrote around the tensor since it was loaded or poisoned.
  bool guards_intact(const Runnable& runnable, std::size_t tensor) const;

  /// Writes all tensors back to memory, out of the caches.
  void evict(const Runnable& runnable) const;

 private:
  std::size_t bytes_of(const Runnable& runnable, std::size_t tensor) const {
    return runnable.graph->tensors[tensor].desc.bytes();
  }
  void fill_tensor(const Runnable& runnable, std::size_t tensor, std::uint64_t seed) const;

  Buffer buffer_;
};

}  // namespace opbench
