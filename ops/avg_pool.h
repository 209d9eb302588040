#pragma once

#include "ops/pool.h"

namespace opbench {

/// The windows of an average pool, and what their sums are divided by.
struct AvgPool {
  Pool pool;
  bool count_include_pad = true;

  /// What the sum of window (oh, ow) is divided by: its elements, those in the padding included or
  /// not. What `ceil_mode` lets stand out beyond the padding never counts. Source: ATen's
  /// avg_pool2d_out.
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

/// Of a use of avg_pool2d, and of its gradient, whose windows are those of `dy`. Errors: throws
/// Error that names the operator, the input or attribute, and what is allowed.
AvgPool avg_pool_shape(const TensorDesc& x, const Attrs& attrs);
AvgPool avg_pool_grad_shape(const TensorDesc& dy, const Attrs& attrs);

}  // namespace opbench
