#pragma once

#include <cstdint>

#include "judge/measure_chunk.h"

namespace opbench {

/// msaccucmp's sums as they are defined, one element at a time: what the vector code must agree
/// with.
MsaccucmpSums measure_msaccucmp(std::int64_t count, const float* x, const float* y);

/// The second pass.
KlSums measure_kl(const KlScales& scales, std::int64_t count, const float* x, const float* y);

}  // namespace opbench
