#pragma once

#include <vector>

#include "ops/pool.h"

namespace opbench {

/// The windows of a plane [h, w]: places [first, last) of the rows and columns that each covers.
struct PoolGrid {
  std::int64_t planes, h, w;
  std::vector<TapRange> rows, columns;

  std::int64_t windows() const { return std::ssize(rows) * std::ssize(columns); }
};

/// Window i of `count` along an axis of `extent` covers the places from floor(i*extent/count) to
/// ceil((i + 1)*extent/count). Source: ATen's adaptive_avg_pool2d.
std::vector<TapRange> adaptive_taps(std::int64_t extent, std::int64_t count);

/// Of a use of adaptive_avg_pool2d, and of its gradient, whose windows are those of `dy`. Errors:
/// throws Error that names the operator, the input or attribute, and what is allowed.
PoolGrid adaptive_grid(const TensorDesc& x, const Attrs& attrs);
PoolGrid adaptive_grad_grid(const TensorDesc& dy, const Attrs& attrs);

}  // namespace opbench
