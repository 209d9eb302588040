#pragma once

#include <cstddef>

#include "harness/run/timing.h"

namespace opbench {

/// Bytes per second, read plus written.
struct CopyRate {
  double median = 0, best = 0;
};

/// What memcpy reaches on buffers that together hold `bytes`, each thread copying one contiguous
/// part: 100 % of "of copy". 0 if interrupted.
CopyRate measure_copy_rate(std::size_t bytes, int threads, TimingOptions timing, bool cold);

}  // namespace opbench
