#pragma once

#include <cstdint>

#include "judge/measure_chunk.h"

namespace opbench {

/// msaccucmp's sums by their definition, one element at a time. The vector code must agree with
/// them.
MsaccucmpSums measure_msaccucmp(std::int64_t count, const float* x, const float* y);

/// The sums of the second pass.
KlSums measure_kl(const KlScales& scales, std::int64_t count, const float* x, const float* y);

}  // namespace opbench
