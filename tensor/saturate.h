#pragma once

#include <cstdint>

namespace opbench {

/// The bits of an fp16 value as arithmetic without Inf and NaN leaves them; see saturate_fp16.
std::uint16_t saturated_fp16(std::uint16_t bits);

/// What fp16 arithmetic without Inf and NaN (Ascend 910A) leaves where IEEE arithmetic has them:
/// +-65504 for +-Inf, 0 for NaN. Changes `elements` stored values in place; true if there was any.
bool saturate_fp16(void* data, std::int64_t elements);

}  // namespace opbench
