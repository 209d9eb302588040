#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "ops/attrs.h"

namespace opbench {

// Conversions that C++ leaves undefined or unspecified.

/// trunc(x) modulo 256; 0 for Inf and NaN. Values beyond int64 are multiples of 256. Source: torch
/// converts a floating number to uint8 through int64 (c10/util/TypeCast.h).
inline std::uint8_t modulo_256(double x) {
  constexpr double kEnd = 0x1p63;  // one past int64
  return std::fabs(x) < kEnd ? static_cast<std::uint8_t>(static_cast<std::int64_t>(x)) : 0;
}

/// `x` modulo 16, from -8 to 7.
inline std::int8_t low_four_bits(std::int64_t x) {
  return static_cast<std::int8_t>(((x & 15) ^ 8) - 8);
}

/// Devices store eight int4 in an int32. The first one has the lowest four bits.
inline constexpr std::int64_t kInt4InInt32 = 8;

/// `x` as a double that rounds to fp32 and narrower types like `x` itself: lost bits set the last
/// bit ("round to odd").
inline double to_odd_double(std::int64_t x) {
  constexpr std::int64_t kFits = std::int64_t{1} << 53, kDropped = 0x7FF;  // 64 - 53 bits
  if (x > -kFits && x < kFits) return static_cast<double>(x);
  const std::int64_t sticky = (x & kDropped) != 0 ? kDropped + 1 : 0;
  return static_cast<double>((x & ~kDropped) | sticky);
}

/// A rule for attributes: empty for the name of a dtype, else the reason.
std::string no_dtype(const AttrValue& value);

}  // namespace opbench
