#pragma once

#include <cstdint>

#include "harness/run/bound_graph.h"
#include "harness/run/unit_variant.h"
#include "tensor/buffer.h"

namespace opbench {

/// Memory that the variants of a unit use in turn. Each places its tensors by its plan.
class Workspace {
 public:
  /// Memory for `copies` plans of `bytes` bytes each.
  /// Errors: throws RunError if the memory is not available.
  explicit Workspace(std::size_t bytes, int copies = 1);

  void* at(const UnitVariant& variant, std::size_t tensor) const {
    return at(variant, tensor, layout_);
  }
  /// Moves the tensors to the places of `layout` (memory_plan.h), in the copy of the memory with
  /// the number `layout` modulo the number of copies. The plans must have a page of slack. If
  /// `loaded` is set, its given values are moved too, with fresh guard zones. Computed values are
  /// lost.
  void move(std::uint64_t layout, const UnitVariant* loaded);
  std::uint64_t layout() const { return layout_; }
  /// Addresses of the tensors. Valid while the workspace lives and `variant`'s plan is unchanged.
  TensorStorage storage_of(const UnitVariant& variant) const;

  /// Fills the given tensors of the graph and writes guard zones around them: inputs and parameters
  /// by their distributions, each from a random stream of its own, or by recorded values;
  /// constants, zeros and the seeds of the backward pass by their fixed values.
  /// Errors: throws Error if an operator refuses the values.
  void load(const UnitVariant& variant, std::uint64_t seed) const;

  /// Fingerprint of one tensor, of all tensors that `load` filled, and of all outputs of the graph.
  std::uint64_t fingerprint(const UnitVariant& variant, std::size_t tensor) const;
  std::uint64_t given_fingerprint(const UnitVariant& variant) const;
  std::uint64_t result_fingerprint(const UnitVariant& variant) const;

  static constexpr int kPoison = 0xFF;  ///< in every byte: NaN, -1, 255
  /// Fills a tensor with this byte, so that unwritten elements are visible, and writes fresh guard
  /// zones.
  void poison(const UnitVariant& variant, std::size_t tensor, int byte = kPoison) const;
  /// Sets the bytes of the guard zones of a tensor, and restores the usual ones.
  void surround(const UnitVariant& variant, std::size_t tensor, int byte) const;
  void restore_guards(const UnitVariant& variant, std::size_t tensor) const;
  /// False if the guard zone of the tensor was changed since it was loaded or poisoned.
  bool guards_intact(const UnitVariant& variant, std::size_t tensor) const;

  /// Writes all tensors back to memory and drops them from the caches.
  void evict(const UnitVariant& variant) const;

 private:
  std::byte* at(const UnitVariant& variant, std::size_t tensor, std::uint64_t layout) const {
    return begin_ + layout % copies_ * bytes_ + variant.memory->offsets[tensor] +
           layout_shift(layout, tensor);
  }
  std::size_t bytes_of(const UnitVariant& variant, std::size_t tensor) const {
    return variant.graph->tensors[tensor].desc.bytes();
  }
  void fill_tensor(const UnitVariant& variant, std::size_t tensor, std::uint64_t seed) const;

  std::size_t bytes_, copies_;  // of a plan, a multiple of a page; of the memory
  Buffer buffer_;
  std::byte* begin_;  // at a page, so that offsets within pages are those of the plan
  std::uint64_t layout_ = 0;
};

}  // namespace opbench
