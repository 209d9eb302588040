#pragma once

#include <cstdint>
#include <span>

#include "kernels/simd/padded_planes.h"
#include "ops/pool.h"
#include "tensor/dtype.h"

namespace opbench {

/// A plane of a max pool with 16 channels side by side, in fp32, fp16 or bf16: y[i][lane] = the
/// greatest element of window i, places[i][lane] = where it lies in the plane; the first of equals,
/// the last NaN. `across`: taps_of(pool.columns(), pool.ow). `stream`: past the cache; y is then
/// aligned to 16 elements, places to 64 bytes.
void max_of_lane_windows(const Pool& pool, std::span<const TapRange> across, DType dtype,
                         bool stream, const void* x, void* y, std::int64_t* places);

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
