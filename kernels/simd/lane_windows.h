#pragma once

#include <cstdint>
#include <span>

#include "ops/pool.h"
#include "tensor/dtype.h"

namespace opbench {

/// A plane of a max pool with 16 channels side by side, in fp32, fp16 or bf16: y[i][lane] = the
/// greatest element of window i, places[i][lane] = where it lies in the plane; the first of equals,
/// the last NaN. `across`: taps_of(pool.columns(), pool.ow). `stream`: past the cache; y is then
/// aligned to 16 elements, places to 64 bytes.
void max_of_lane_windows(const Pool& pool, std::span<const TapRange> across, DType dtype,
                         bool stream, const void* x, void* y, std::int64_t* places);

}  // namespace opbench
