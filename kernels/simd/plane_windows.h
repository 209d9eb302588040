#pragma once

#include <cstdint>

#include "kernels/simd/padded_planes.h"
#include "ops/pool.h"

namespace opbench {

/// Planes of one channel, [h, w] and [oh, ow] in fp32, and the windows of one on the other. One
/// thread; rows of the output in vectors. Products are fused where the instruction set has it
/// (avx2, avx3).

/// y = start + x correlated with the `taps` of a kernel; `planes`: for all rows of y.
void correlate_plane(const Conv2d& conv, const PaddedPlanes& planes, const float* x,
                     const float* taps, float start, float* y);

/// dx += dy spread by the taps, tap after tap.
void spread_plane(const Conv2d& conv, const float* dy, const float* taps, float* dx);

/// taps[k] += the sum of dy times what tap k meets of x.
void add_taps_of_plane(const Conv2d& conv, const float* dy, const float* x, float* taps);

/// y[i] = the greatest element of window i, places[i] = where it lies in x: the first of equals,
/// the last NaN.
void max_of_plane(const Pool& pool, const float* x, float* y, std::int64_t* places);

}  // namespace opbench
