#pragma once

#include <cstdint>

namespace opbench {

/// The sources of points in a plane, above left, above right, below left and below right: places in
/// the plane, or -1 outside, and weights.
struct PointSources {
  std::int64_t count;
  const std::int32_t* at[4];
  const float* weight[4];
  const float *share_x, *share_y;  ///< of the right and the lower sources
};

}  // namespace opbench
