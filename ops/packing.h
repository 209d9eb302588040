#pragma once

#include <bit>
#include <cstdint>

namespace opbench {

/// The scale in a number of trans_quant_param: the upper 19 bits of an fp32 number.
inline float packed_scale(std::int64_t number) {
  constexpr std::uint32_t kUpper19 = 0xFFFFE000;
  return std::bit_cast<float>(static_cast<std::uint32_t>(number) & kUpper19);
}

/// A number of trans_quant_param. The offset is rounded and clipped to 9 bits.
std::int64_t packed_quant_param(float scale, float offset);

}  // namespace opbench
