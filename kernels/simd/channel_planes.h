#pragma once

#include <algorithm>
#include <vector>

#include "kernels/simd/cube.h"
#include "kernels/simd/elementwise.h"
#include "kernels/simd/lane_planes.h"
#include "kernels/simd/row_sums.h"
#include "ops/channels.h"

namespace opbench {

/// A tensor by channels as it is stored: planes of `inner` places with one channel each, or in
/// NC1HWC0 with the 16 of a block side by side. The lanes past the last channel hold anything.
struct ChannelPlanes {
  DType dtype;
  std::int64_t lanes, outer, channels, inner;
  std::int64_t planes;  ///< of one image: channels, or blocks of them

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
  /// How many of a plane's lanes are channels.
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
  /// Where a plane's results go in fp32: in place, or `buffer`, which `store` then narrows.
  float* target(void* data, std::int64_t plane, std::vector<float>& buffer) const {
    if (dtype == DType::fp32) return static_cast<float*>(address(data, plane));
    buffer.resize(static_cast<std::size_t>(elements()));
    return buffer.data();
  }
  void store(const float* values, std::int64_t plane, void* data) const {
    if (dtype != DType::fp32) store_floats(dtype, values, elements(), address(data, plane));
  }
};

/// sums[plane - begin][lane] = the sum of scale*x over one lane of a plane, 64 fp32 sums at a time
/// (row_sums.h; 16 channels side by side: sum_of_lanes), for planes [begin, end) on one thread.
inline void sum_of_planes(const ChannelPlanes& x, const void* data, std::int64_t begin,
                          std::int64_t end, float scale, float* sums) {
  if (x.lanes == 1) {
    const SummedRows rows{x.dtype, x.address(data, begin), end - begin, x.inner, x.inner};
    return sum_rows(rows, scale, sums);
  }
  sum_of_lanes({x.dtype, x.inner, begin, end, x.planes}, scale, data, sums);
}

}  // namespace opbench
