#pragma once

#include <cstdint>

namespace opbench {

/// What fp16 arithmetic without Inf and NaN (Ascend 910A) leaves where IEEE arithmetic has them:
/// +-65504 for +-Inf, 0 for NaN. Changes `elements` stored values in place; true if there was any.
bool saturate_fp16(void* data, std::int64_t elements);

/// The same for a value in fp64 that is about to be rounded to fp16.
double saturated_fp16(double value);

}  // namespace opbench
