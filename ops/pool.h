#pragma once

#include <vector>

#include "ops/conv2d.h"
#include "ops/op.h"

namespace opbench {

/// The place of the smaller plane that each row and column of the larger plane copies.
struct NearestPlaces {
  std::int64_t planes, h, w;
  std::vector<std::int64_t> rows, columns;
};

/// The places for a use of upsample_nearest2d, and of its gradient, which has `dy` as the larger
/// plane.
NearestPlaces nearest_places(const TensorDesc& x, const Attrs& attrs);
NearestPlaces nearest_grad_places(const TensorDesc& dy, const Attrs& attrs);

/// Places [first, last) of an axis, a dilation apart.
struct TapRange {
  std::int64_t first, last;
};

/// The windows along one axis of a plane.
struct PoolAxis {
  std::int64_t extent, kernel, stride, padding, dilation;

  /// The places of the plane that a window covers.
  TapRange taps_at(std::int64_t window) const {
    const std::int64_t start = window * stride - padding;
    const std::int64_t skipped = start < 0 ? (dilation - 1 - start) / dilation : 0;
    return {start + skipped * dilation, std::min(start + dilation * (kernel - 1) + 1, extent)};
  }
};

/// The places of all windows. Computed once, because it needs divisions.
std::vector<TapRange> taps_of(const PoolAxis& axis, std::int64_t windows);

/// The geometry of a pool: each plane [h, w] becomes [oh, ow].
struct Pool {
  std::int64_t planes, h, w, oh, ow;
  Window window;

  PoolAxis rows() const {
    return {h, window.kernel.h, window.stride.h, window.padding.h, window.dilation.h};
  }
  PoolAxis columns() const {
    return {w, window.kernel.w, window.stride.w, window.padding.w, window.dilation.w};
  }
};

/// The number of windows along an axis. `ceil_mode` adds a window if the last leaves a remainder;
/// it starts inside the plane or its leading padding. 0: no window fits.
std::int64_t pool_windows(const PoolAxis& axis, bool ceil_mode);

/// The pool of a use of max_pool2d. Errors: throws Error that names the input or attribute and what
/// is allowed.
Pool max_pool_shape(const TensorDesc& x, const Attrs& attrs);

/// Height and width of x for a gradient: `input_size`, or `scale` times the extents of `dy` if that
/// is empty.
Pair input_size_of(const TensorDesc& dy, const Attrs& attrs, std::int64_t scale);

/// The place in its plane of the greatest element of window (oh, ow), like torch: the first of
/// equal elements, the last NaN if there is any.
std::int64_t greatest_in_window(const Pool& pool, const double* plane, std::int64_t oh,
                                std::int64_t ow);

/// Errors: throws Error that names the operator and the input unless its shape is [N, C, H, W].
void require_planes(std::string_view op, std::string_view input, const TensorDesc& desc);

/// The windows of an average pool, and the divisors of their sums.
struct AvgPool {
  Pool pool;
  bool count_include_pad = true;

  /// The divisor of the sum of window (oh, ow): its number of elements, with or without those in
  /// the padding. Elements beyond the padding, which `ceil_mode` can add, never count. Source:
  /// ATen's avg_pool2d_out.
  double divisor(std::int64_t oh, std::int64_t ow) const {
    return double(count(pool.rows(), oh) * count(pool.columns(), ow));
  }

 private:
  std::int64_t count(const PoolAxis& axis, std::int64_t window) const {
    const TapRange taps = axis.taps_at(window);
    if (!count_include_pad) return taps.last - taps.first;
    const std::int64_t start = window * axis.stride - axis.padding;
    return std::min(start + axis.kernel, axis.extent + axis.padding) - start;
  }
};

/// The windows of a use of avg_pool2d; for its gradient they are those of `dy`. Errors: throws
/// Error that names the operator, the input or attribute, and what is allowed.
AvgPool avg_pool_shape(const TensorDesc& x, const Attrs& attrs);
AvgPool avg_pool_grad_shape(const TensorDesc& dy, const Attrs& attrs);

/// The windows of a plane [h, w]: each covers places [first, last) of the rows and columns.
struct PoolGrid {
  std::int64_t planes, h, w;
  std::vector<TapRange> rows, columns;

  std::int64_t windows() const { return std::ssize(rows) * std::ssize(columns); }
};

/// Window i of `count` along an axis of `extent` covers the places from floor(i*extent/count) to
/// ceil((i + 1)*extent/count). Source: ATen's adaptive_avg_pool2d.
std::vector<TapRange> adaptive_taps(std::int64_t extent, std::int64_t count);

/// The windows of a use of adaptive_avg_pool2d; for its gradient they are those of `dy`. Errors:
/// throws Error that names the operator, the input or attribute, and what is allowed.
PoolGrid adaptive_grid(const TensorDesc& x, const Attrs& attrs);
PoolGrid adaptive_grad_grid(const TensorDesc& dy, const Attrs& attrs);

}  // namespace opbench
