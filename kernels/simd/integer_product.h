#pragma once

#include <cstdint>

namespace opbench {

/// Rows of packed factors are whole multiples of this many elements.
inline constexpr std::int64_t kIntegerGrain = 32;

inline std::int64_t integer_pitch(std::int64_t k) {
  return (k + kIntegerGrain - 1) / kIntegerGrain * kIntegerGrain;
}

/// c[i*apart + j] = sum over k of left[i*pitch + k]*right[j*pitch + k], exact in int32. `pitch` is
/// a multiple of kIntegerGrain; elements beyond the factors' own are 0.
void integer_product(std::int64_t rows, std::int64_t columns, std::int64_t pitch,
                     const std::int16_t* left, const std::int16_t* right, std::int32_t* c,
                     std::int64_t apart);

}  // namespace opbench
