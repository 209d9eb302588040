#pragma once

#include <cstdint>

#include "harness/run/bound_graph.h"
#include "harness/run/unit_variant.h"
#include "tensor/buffer.h"

namespace opbench {

/// Memory in which the variants of a unit take turns. Each lays its tensors out by its plan.
class Workspace {
 public:
  /// Errors: throws RunError if the memory is not to be had.
  explicit Workspace(std::size_t bytes);

  void* at(const UnitVariant& variant, std::size_t tensor) const {
    return begin_ + variant.memory->offsets[tensor] + layout_shift(layout_, tensor);
  }
  /// From now on tensors lie where `layout` (memory_plan.h) puts them; the plans must have a page
  /// of slack. Given values are taken along if `loaded` says whose they are, with fresh guard
  /// zones; what was computed is lost.
  void move(std::uint64_t layout, const UnitVariant* loaded);
  std::uint64_t layout() const { return layout_; }
  /// Where the tensors lie. Valid while the workspace lives and `variant`'s plan stays.
  TensorStorage storage_of(const UnitVariant& variant) const;

  /// Fills what the graph is given and writes guard zones around it: inputs and parameters by their
  /// distributions, each from a stream of its own, or by what was recorded; constants, zeros and
  /// the seeds of the backward pass with what they hold. Errors: throws Error if an operator
  /// refuses the values.
  void load(const UnitVariant& variant, std::uint64_t seed) const;

  /// Fingerprint of one tensor, of all that `load` filled, and of all outputs of the graph.
  std::uint64_t fingerprint(const UnitVariant& variant, std::size_t tensor) const;
  std::uint64_t given_fingerprint(const UnitVariant& variant) const;
  std::uint64_t result_fingerprint(const UnitVariant& variant) const;

  static constexpr int kPoison = 0xFF;  ///< in every byte: NaN, -1, 255
  /// Such bytes, or others, over a tensor, so that an element nobody writes is seen, and fresh
  /// guard zones.
  void poison(const UnitVariant& variant, std::size_t tensor, int byte = kPoison) const;
  /// Other bytes than usual in the guard zones of a tensor, and the usual again.
  void surround(const UnitVariant& variant, std::size_t tensor, int byte) const;
  void restore_guards(const UnitVariant& variant, std::size_t tensor) const;
  /// False if something wrote around the tensor since it was loaded or poisoned.
  bool guards_intact(const UnitVariant& variant, std::size_t tensor) const;

  /// Writes all tensors back to memory, out of the caches.
  void evict(const UnitVariant& variant) const;

 private:
  std::size_t bytes_of(const UnitVariant& variant, std::size_t tensor) const {
    return variant.graph->tensors[tensor].desc.bytes();
  }
  void fill_tensor(const UnitVariant& variant, std::size_t tensor, std::uint64_t seed) const;

  Buffer buffer_;
  std::byte* begin_;  // of a page, so that places within pages are those of the plan
  std::uint64_t layout_ = 0;
};

}  // namespace opbench
