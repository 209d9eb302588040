#pragma once

#include <cstdint>

#include "ops/conv2d.h"

namespace opbench {

/// Rows [first, last) of the output.
struct Strip {
  std::int64_t first, last;
};

/// Row `k` of the unfolded channels (im2col) of x, one image and group: what tap k % taps of the
/// kernel meets in each window of the strip, zeros beside the plane.
void unfold_row(const Conv2d& conv, const float* x, std::int64_t k, Strip strip, float* row);

/// The opposite, for all windows: each adds to where it came from.
void fold_row(const Conv2d& conv, const float* row, std::int64_t k, float* x);

}  // namespace opbench
