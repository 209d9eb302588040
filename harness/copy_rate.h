#pragma once

#include <cstddef>

#include "harness/timing.h"

namespace opbench {

/// Bytes per second (read plus written) that memcpy reaches on buffers that together hold `bytes`,
/// each thread copying one contiguous part. The ceiling that "% of copy" refers to. 0 if
/// interrupted.
double measure_copy_rate(std::size_t bytes, int threads, TimingOptions timing, bool cold);

}  // namespace opbench
