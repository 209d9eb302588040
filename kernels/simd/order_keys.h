#pragma once

#include <hwy/base.h>

#include <bit>
#include <cstdint>
#include <limits>

#include "tensor/half.h"

namespace opbench {

/// The bits of a float, sign first, as an integer in the order of the floats: NaN is greatest, -0
/// equals +0.
template <class Bits>
HWY_INLINE Bits ordered_bits(Bits bits, Bits infinity) {
  constexpr Bits kMax = std::numeric_limits<Bits>::max();
  const auto magnitude = static_cast<Bits>(bits & kMax);
  const auto number = static_cast<Bits>(bits < 0 ? -magnitude : magnitude);
  return magnitude > infinity ? kMax : number;
}

/// An integer in the order of the elements (ops/order.h); integers are their own keys. Inlined into
/// code for every target, where compilers vectorise it.
template <class T>
HWY_INLINE T key_of(T x) {
  return x;
}
HWY_INLINE std::int32_t key_of(float x) {
  return ordered_bits(std::bit_cast<std::int32_t>(x), std::int32_t{0x7F800000});
}
HWY_INLINE std::int64_t key_of(double x) {
  return ordered_bits(std::bit_cast<std::int64_t>(x), std::int64_t{0x7FF0000000000000});
}
HWY_INLINE std::int16_t key_of(half x) {
  return ordered_bits(static_cast<std::int16_t>(x.x), std::int16_t{0x7C00});
}
HWY_INLINE std::int16_t key_of(bfloat16 x) {
  return ordered_bits(static_cast<std::int16_t>(x.value), std::int16_t{0x7F80});
}

/// The keys of an operator's elements: unchanged, or after a cast to fp32.
struct AsIs {
  template <class T>
  HWY_INLINE auto operator()(T x) const {
    return key_of(x);
  }
};
struct CastToFp32 {
  template <class T>
  HWY_INLINE std::int32_t operator()(T x) const {
    return key_of(static_cast<float>(x));
  }
};

}  // namespace opbench
