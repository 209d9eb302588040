#include "kernels/copy/strided_copy.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <utility>

#include "kernels/copy/strided_ways.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

/// A box of a logical (N, C, H, W) tensor in NC1HWC0 storage, from `start` on.
struct Box {
  Dims nchw, start;
  std::int64_t c0;

  Box(const TensorDesc& desc, std::size_t axis, std::int64_t first)
      : nchw(expand_to_nchw(desc.shape)), start(4, 0), c0(desc.c0) {
    const bool is_expanded = desc.shape.size() < 4;  // by an axis in front
    start[axis + (is_expanded ? 1 : 0)] = first;
  }
  std::int64_t row_stride() const { return nchw[3] * c0; }
  /// The first channel of the box behind the block that has channel `c`.
  std::int64_t block_end(std::int64_t c) const { return c + c0 - (start[1] + c) % c0; }
  /// Offset of element (n, c, 0, 0) of the box.
  std::int64_t plane(std::int64_t n, std::int64_t c) const {
    const std::int64_t channel = start[1] + c, blocks = (nchw[1] + c0 - 1) / c0;
    const std::int64_t slab = (start[0] + n) * blocks + channel / c0;
    return ((slab * nchw[2] + start[2]) * nchw[3] + start[3]) * c0 + channel % c0;
  }
};

/// Copies `extents` (N, C, H, W) from one box to the other: channels that are neighbours in both,
/// of one pixel after the other.
ElementCopy copy_box(const Box& from, const Box& to, const Dims& extents, std::size_t bytes) {
  std::vector<std::int64_t> runs = {0};  // first channels
  while (runs.back() < extents[1])
    runs.push_back(std::min({from.block_end(runs.back()), to.block_end(runs.back()), extents[1]}));
  const auto size = static_cast<std::int64_t>(bytes);
  return [=](const void* source, void* target) {
    const std::int64_t count = std::ssize(runs) - 1, height = extents[2];
    parallel_ranges(extents[0] * count, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t n = i / count, c = runs[i % count];
        const std::int64_t run = (runs[i % count + 1] - c) * size;
        const ShortRows row{extents[3], run, run, from.c0 * size, to.c0 * size};
        const auto* in = static_cast<const std::byte*>(source) + from.plane(n, c) * size;
        auto* out = static_cast<std::byte*>(target) + to.plane(n, c) * size;
        for (std::int64_t h = 0; h < height; ++h) {
          copy_short_rows(row, in + h * from.row_stride() * size, out + h * to.row_stride() * size,
                          false);
        }
      }
    });
  };
}

StridedView narrowed(const TensorDesc& whole, const TensorDesc& part, std::size_t axis,
                     std::int64_t start) {
  return slice(dense_view(whole.shape), static_cast<std::int64_t>(axis), start, part.shape[axis]);
}

std::unique_ptr<StridedCopy::Way> choose(StridedNest nest, bool stream) {
  const std::int64_t bytes = nest.element_bytes;
  Loops outer = ordered(std::move(nest.loops));
  const StridedLoop run = outer.back();
  outer.pop_back();
  if (run.from_stride == 1 || run.extent == 1) {
    return copy_rows(std::move(outer), run, bytes, stream);
  }
  const auto a = std::find_if(outer.begin(), outer.end(),
                              [](const StridedLoop& loop) { return loop.from_stride == 1; });
  if (a == outer.end()) return copy_elements(std::move(outer), run, bytes, stream);
  const StridedLoop a_loop = *a;
  outer.erase(a);
  return copy_planes(std::move(outer), a_loop, run, bytes, stream);
}

}  // namespace

ElementCopy copy_view(const StridedView& from, const StridedView& to, std::size_t element_bytes) {
  assert(from.shape == to.shape);
  StridedNest nest{static_cast<int>(element_bytes), from.offset, to.offset, {}};
  for (std::size_t i = 0; i < from.shape.size(); ++i) {
    nest.loops.push_back({from.shape[i], from.strides[i], to.strides[i]});
  }
  return [copy = std::make_shared<StridedCopy>(std::move(nest), false)](
             const void* source, void* target) { copy->run(source, target); };
}

ElementCopy copy_into(const TensorDesc& part, const TensorDesc& whole, std::size_t axis,
                      std::int64_t start) {
  const std::size_t bytes = size_of(part.dtype);
  if (part.format == Format::NC1HWC0) {
    return copy_box({part, axis, 0}, {whole, axis, start}, expand_to_nchw(part.shape), bytes);
  }
  return copy_view(dense_view(part.shape), narrowed(whole, part, axis, start), bytes);
}

ElementCopy copy_out_of(const TensorDesc& whole, const TensorDesc& part, std::size_t axis,
                        std::int64_t start) {
  const std::size_t bytes = size_of(part.dtype);
  if (part.format == Format::NC1HWC0) {
    return copy_box({whole, axis, start}, {part, axis, 0}, expand_to_nchw(part.shape), bytes);
  }
  return copy_view(narrowed(whole, part, axis, start), dense_view(part.shape), bytes);
}

StridedCopy::StridedCopy(StridedNest nest, bool stream)
    : from_offset_(nest.from_offset * nest.element_bytes),
      to_offset_(nest.to_offset * nest.element_bytes) {
  const bool is_empty = std::any_of(nest.loops.begin(), nest.loops.end(),
                                    [](const StridedLoop& loop) { return loop.extent == 0; });
  if (!is_empty) way_ = choose(std::move(nest), stream);
}

StridedCopy::StridedCopy(StridedCopy&&) noexcept = default;
StridedCopy::~StridedCopy() = default;

void StridedCopy::run(const void* from, void* to) const {
  if (way_ == nullptr) return;
  way_->run(static_cast<const std::byte*>(from) + from_offset_,
            static_cast<std::byte*>(to) + to_offset_);
}

}  // namespace opbench
