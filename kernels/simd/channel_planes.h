#pragma once

#include <algorithm>
#include <vector>

#include "kernels/simd/cube.h"
#include "kernels/simd/elementwise.h"
#include "kernels/simd/lane_planes.h"
#include "kernels/simd/row_sums.h"
#include "ops/channels.h"
#include "tensor/parallel.h"
#include "tensor/processor.h"

namespace opbench {

/// A tensor by channels as stored: planes of `inner` places with one channel each, or in NC1HWC0
/// with the 16 channels of a block side by side. Lanes past the last channel have undefined values.
struct ChannelPlanes {
  DType dtype;
  std::int64_t lanes, outer, channels, inner;
  std::int64_t planes;  ///< of one image: channels, or blocks of channels

  ChannelPlanes(DType type, const ChannelView& view, bool is_blocked)
      : dtype(type),
        lanes(is_blocked ? kCube : 1),
        outer(view.outer),
        channels(view.channels),
        inner(view.inner),
        planes((view.channels + lanes - 1) / lanes) {}
  explicit ChannelPlanes(const TensorDesc& desc)
      : ChannelPlanes(desc.dtype, channel_view("a kernel", "its input", desc),
                      desc.format == Format::NC1HWC0) {}

  std::int64_t count() const { return outer * planes; }
  std::int64_t elements() const { return inner * lanes; }
  std::int64_t first_channel(std::int64_t plane) const { return plane % planes * lanes; }
  /// The number of a plane's lanes that are channels.
  std::int64_t used(std::int64_t plane) const {
    return std::min(lanes, channels - first_channel(plane));
  }
  const void* address(const void* data, std::int64_t plane) const {
    return at(data, dtype, plane * elements());
  }
  void* address(void* data, std::int64_t plane) const {
    return at(data, dtype, plane * elements());
  }
  /// A plane in fp32: in place, or widened into `buffer`.
  const float* load(const void* data, std::int64_t plane, std::vector<float>& buffer) const {
    const void* from = address(data, plane);
    if (dtype == DType::fp32) return static_cast<const float*>(from);
    buffer.resize(static_cast<std::size_t>(elements()));
    load_floats(dtype, from, elements(), buffer.data());
    return buffer.data();
  }
  /// The place for a plane's results in fp32: in the tensor, or `buffer`, which `store` then
  /// narrows.
  float* target(void* data, std::int64_t plane, std::vector<float>& buffer) const {
    if (dtype == DType::fp32) return static_cast<float*>(address(data, plane));
    buffer.resize(static_cast<std::size_t>(elements()));
    return buffer.data();
  }
  void store(const float* values, std::int64_t plane, void* data) const {
    if (dtype != DType::fp32) store_floats(dtype, values, elements(), address(data, plane));
  }
};

/// Calls body(x, y) on all threads for planes of an input and their results, in fp32.
template <class Body>
void map_planes(const ChannelPlanes& from, const ChannelPlanes& to, const void* x, void* y,
                Body body) {
  parallel_blocks(to.count(), [&](std::int64_t plane) {
    thread_local std::vector<float> x_buffer, y_buffer;
    float* const result = to.target(y, plane, y_buffer);
    body(from.load(x, plane, x_buffer), result);
    to.store(result, plane, y);
  });
}

/// sums[plane - begin][lane] = the sum of scale*x over one lane of a plane, with 64 fp32 sums at a
/// time (row_sums.h; for 16 channels side by side sum_of_lanes), for planes [begin, end) on one
/// thread.
inline void sum_of_planes(const ChannelPlanes& x, const void* data, std::int64_t begin,
                          std::int64_t end, float scale, float* sums) {
  if (x.lanes == 1) {
    const SummedRows rows{x.dtype, x.address(data, begin), end - begin, x.inner, x.inner};
    return sum_rows(rows, scale, sums);
  }
  sum_of_lanes({x.dtype, x.inner, begin, end, x.planes}, scale, data, sums);
}

/// Two passes over planes by channel; the second uses the results of the first. It calls
/// reduce(first, last) for all planes of a block of channels, finish(block), then apply(first,
/// last) for all its planes. `bytes`: the bytes that each pass reads of a plane. Blocks that
/// together fit half of a core's own cache are one group. A group is completed before the next
/// begins, with the last planes first: the second pass finds the data of the first in the cache.
/// Each thread gets equally many groups; the threads divide the remaining groups plane by plane.
class TwoPasses {
 public:
  TwoPasses(const ChannelPlanes& x, std::size_t bytes) : outer_(x.outer), blocks_(x.planes) {
    const std::size_t block = std::max<std::size_t>(1, bytes * static_cast<std::size_t>(outer_));
    const auto fitting = static_cast<std::int64_t>(own_cache_bytes() / 2 / block);
    const std::int64_t share = (blocks_ + thread_count() - 1) / thread_count();
    group_ = std::clamp<std::int64_t>(fitting, 1, std::max<std::int64_t>(1, share));
  }

  template <class Reduce, class Finish, class Apply>
  void run(const Reduce& reduce, const Finish& finish, const Apply& apply) const {
    const std::int64_t groups = blocks_ / group_ / thread_count() * thread_count();
    parallel_blocks(groups, [&](std::int64_t group) {
      const std::int64_t begin = group * group_, end = begin + group_;
      for (std::int64_t n = 0; n < outer_; ++n) reduce(n * blocks_ + begin, n * blocks_ + end);
      for (std::int64_t block = begin; block < end; ++block) finish(block);
      for (std::int64_t n = outer_; n-- > 0;) apply(n * blocks_ + begin, n * blocks_ + end);
    });
    for (std::int64_t begin = groups * group_; begin < blocks_; begin += group_) {
      const std::int64_t end = std::min(begin + group_, blocks_);
      share_planes(begin, end, reduce);
      for (std::int64_t block = begin; block < end; ++block) finish(block);
      share_planes(begin, end, apply);
    }
  }

 private:
  // Divides the planes of blocks [begin, end) into runs of consecutive planes.
  template <class Body>
  void share_planes(std::int64_t begin, std::int64_t end, const Body& body) const {
    const std::int64_t width = end - begin;
    parallel_ranges(outer_ * width, 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last;) {
        const std::int64_t run = std::min(last - i, width - i % width);
        const std::int64_t plane = i / width * blocks_ + begin + i % width;
        body(plane, plane + run);
        i += run;
      }
    });
  }

  std::int64_t outer_, blocks_, group_;
};

}  // namespace opbench
