#pragma once

#include <cstring>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>

#include "kernels/conv2d_plan.h"
#include "kernels/onednn/primitive.h"
#include "tensor/parallel.h"

namespace opbench::onednn {

/// NC1HWC0 for oneDNN, which requires zeros in the lanes past the last channel.
class Activations {
 public:
  explicit Activations(const TensorDesc& desc) {
    if (desc.format != Format::NC1HWC0 || desc.shape[1] % kCube == 0) return;
    planes_.emplace(desc);
    cleared_ = Buffer(desc.bytes());
  }
  /// `from`, or a copy with these lanes cleared.
  const void* cleared(const void* from) const {
    if (!planes_) return from;
    const std::size_t lane = size_of(planes_->dtype);
    parallel_blocks(planes_->count(), [&](std::int64_t plane) {
      auto* to = static_cast<std::byte*>(planes_->address(cleared_.data(), plane));
      std::memcpy(to, planes_->address(from, plane),
                  static_cast<std::size_t>(planes_->elements()) * lane);
      const auto used = static_cast<std::size_t>(planes_->used(plane));
      for (std::int64_t i = 0; used < kCube && i < planes_->inner; ++i, to += kCube * lane) {
        std::memset(to + used * lane, 0, (kCube - used) * lane);
      }
    });
    return cleared_.data();
  }

 private:
  std::optional<ChannelPlanes> planes_;
  Buffer cleared_;
};

/// A weight in FRACTAL_Z with a plain copy; plain weights are used in place.
class Weight {
 public:
  Weight(const Problem& problem, const TensorDesc& desc) : size_(size_of(desc.dtype)) {
    if (desc.format != Format::FRACTAL_Z) return;
    fractal_.emplace(problem, desc);
    plain_ = Buffer(static_cast<std::size_t>(desc.elements()) * size_);
  }
  /// `from`, or a plain copy of it.
  const void* unpacked(const void* from) const {
    if (!fractal_) return from;
    for_each_element([&](std::size_t packed, std::size_t plain) {
      std::memcpy(static_cast<std::byte*>(plain_.data()) + plain,
                  static_cast<const std::byte*>(from) + packed, size_);
    });
    return plain_.data();
  }
  /// The place for a plain weight that the primitive writes; `pack` then stores it at `to`.
  void* unpacked(void* to) const { return fractal_ ? plain_.data() : to; }
  void pack(void* to) const {
    if (!fractal_) return;
    for_each_element([&](std::size_t packed, std::size_t plain) {
      std::memcpy(static_cast<std::byte*>(to) + packed,
                  static_cast<const std::byte*>(plain_.data()) + plain, size_);
    });
  }

 private:
  // Calls copy(byte in FRACTAL_Z, byte in [M, C/groups, KH, KW]).
  template <class Copy>
  void for_each_element(Copy copy) const {
    const Conv2d& conv = fractal_->conv;
    parallel_ranges(conv.m, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t m = begin; m < end; ++m) {
        const std::int64_t group = m / conv.group_m(), block = group / fractal_->fractal.together;
        const std::int64_t first = group % fractal_->fractal.together * conv.group_c();
        for (std::int64_t k = 0; k < conv.terms(); ++k) {
          const std::int64_t channel = first + k / conv.taps();
          const std::int64_t packed =
              fractal_->offset(block, k % conv.taps(), m - fractal_->first_output(block), channel) +
              channel % kCube;
          copy(static_cast<std::size_t>(packed) * size_,
               static_cast<std::size_t>(m * conv.terms() + k) * size_);
        }
      }
    });
  }

  std::size_t size_;
  std::optional<FractalWeight> fractal_;
  Buffer plain_;
};

/// A tensor of a primitive that selected its own layout. It is used in place if it is stored in
/// that layout. Otherwise every call reorders it from or to a temporary, within the timed region.
class Operand {
 public:
  enum Direction { input, output };

  Operand(Direction direction, const dnnl::memory::desc& stored, const dnnl::memory::desc& wanted)
      : stored_(stored, engine(), DNNL_MEMORY_NONE),
        inside_(stored == wanted ? stored_ : dnnl::memory(wanted, engine())) {
    if (stored == wanted) return;
    reorder_ =
        direction == input ? dnnl::reorder(stored_, inside_) : dnnl::reorder(inside_, stored_);
  }

  /// The memory that the primitive uses.
  const dnnl::memory& memory() const { return inside_; }
  void bind(const void* data) { stored_.set_data_handle(const_cast<void*>(data)); }
  /// Call it before the primitive runs.
  void load() {
    if (reorder_) reorder_.execute(stream(), stored_, inside_);
  }
  /// Call it after the primitive ran.
  void store() {
    if (reorder_) reorder_.execute(stream(), inside_, stored_);
  }

 private:
  dnnl::memory stored_, inside_;
  dnnl::reorder reorder_;
};

}  // namespace opbench::onednn
