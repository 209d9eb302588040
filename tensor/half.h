#pragma once

#include <Eigen/Core>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"

namespace opbench {

inline constexpr float kMaxHalf = 65504;

/// fp16 bits of `value`. Source: F. Giesen, "float->half variants" (float_to_half_fast3_rtne).
inline std::uint16_t half_bits(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7FFFFFFF;
  std::uint32_t result;
  if (magnitude > 0x7F800000) {  // NaN: quiet, with the upper bits of its payload, as F16C does
    result = 0x7E00 | (magnitude >> 13 & 0x1FF);
  } else if (magnitude >= 0x47800000) {  // 2^16 and more
    result = 0x7C00;
  } else if (magnitude < 0x38800000) {  // below 2^-14: one ulp of 0.5f is the fp16 subnormal 2^-24
    result = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3F000000;
  } else {  // rebias the exponent by 15 - 127; a carry out of the mantissa may correctly give Inf
    const std::uint32_t odd = magnitude >> 13 & 1;
    result = (magnitude - (112u << 23) + 0xFFF + odd) >> 13;
  }
  return static_cast<std::uint16_t>(sign | result);
}

/// `value` rounded towards zero, with the last bit set if anything was lost ("round to odd").
/// Rounding the result to 22 bits or fewer then equals rounding `value`. NaN stays NaN. Source:
/// Boldo and Melquiond 2008, "Emulation of FMA and correctly rounded sums".
inline float rounded_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  const double back = nearest;
  std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest);
  bits -= std::abs(back) > std::abs(value) ? 1 : 0;
  bits |= back != value ? 1 : 0;
  return std::bit_cast<float>(bits);
}

/// Clamping before rounding equals clamping after it: all values from 65504 on become 65504.
inline float saturated(float value) {
  if (std::isnan(value)) return 0;
  return value > kMaxHalf ? kMaxHalf : value < -kMaxHalf ? -kMaxHalf : value;
}

/// The value of fp16 bits; a signalling NaN becomes quiet, as with F16C.
inline float half_value(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16, magnitude = (bits & 0x7FFFu) << 13;
  std::uint32_t result;
  if (magnitude >= 0x0F800000) {
    const std::uint32_t quiet = magnitude > 0x0F800000 ? 0x00400000 : 0;
    result = magnitude | 0x7F800000 | quiet;
  } else if (magnitude < 0x00800000) {  // zero or subnormal: (2^-14 + m * 2^-24) - 2^-14
    const float shifted = std::bit_cast<float>(magnitude + 0x38800000);
    result = std::bit_cast<std::uint32_t>(shifted - 0x1p-14f);
  } else {
    result = magnitude + (112u << 23);
  }
  return std::bit_cast<float>(sign | result);
}

/// bf16 bits of `value`, rounded to nearest even.
inline std::uint16_t bfloat16_bits(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFF) > 0x7F800000) return static_cast<std::uint16_t>(bits >> 16 | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

/// The bits of an fp16 value after arithmetic without Inf and NaN; see saturate_fp16.
std::uint16_t saturated_fp16(std::uint16_t bits);

/// Replaces stored fp16 values in place by those of arithmetic without Inf and NaN (Ascend 910A):
/// +-65504 for +-Inf, 0 for NaN. Returns true if any value was replaced.
bool saturate_fp16(void* data, std::int64_t elements);

using half = Eigen::half;
using bfloat16 = Eigen::bfloat16;

/// fp32 to fp16: rounds to nearest, ties to even, and keeps subnormals.
half to_half(float value, HalfMode mode = HalfMode::ieee);
bfloat16 to_bfloat16(float value);

/// fp64 to fp16 with a single rounding (through fp32 it could round twice).
half round_to_half(double value);
bfloat16 round_to_bfloat16(double value);

/// Bulk conversions, vectorised for the selected instruction set, with the bits of the scalar
/// functions. `from` and `to` need no alignment and must not overlap.
void widen(const half* from, float* to, std::size_t count);
void widen(const bfloat16* from, float* to, std::size_t count);
void narrow(const float* from, half* to, std::size_t count, HalfMode mode = HalfMode::ieee);
void narrow(const float* from, bfloat16* to, std::size_t count);

/// Calls `body` with a value of the C++ type that stores `dtype`; fp32, fp16 and bf16.
template <class Body>
void visit_arithmetic(DType dtype, Body&& body) {
  if (dtype == DType::fp16) return body(half{});
  if (dtype == DType::bf16) return body(bfloat16{});
  body(float{});
}

}  // namespace opbench
