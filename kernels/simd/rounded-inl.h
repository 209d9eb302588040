// fp32 lanes rounded to the numbers of a narrower dtype. Included once per target.
// clang-format off
#if defined(OPBENCH_KERNELS_SIMD_ROUNDED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPBENCH_KERNELS_SIMD_ROUNDED_INL_H_
#undef OPBENCH_KERNELS_SIMD_ROUNDED_INL_H_
#else
#define OPBENCH_KERNELS_SIMD_ROUNDED_INL_H_
#endif
// clang-format on

#include <hwy/highway.h>

#include <cstdint>
#include <type_traits>

#include "tensor/half-inl.h"
#include "tensor/half.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {

/// The value that a store to memory of T and a load give; a NaN stays unchanged.
template <class T, class D>
HWY_INLINE hn::Vec<D> rounded_as(D d, hn::Vec<D> value) {
  if constexpr (std::is_same_v<T, half>) {
    return widen_half_bits(d, round_to_half_bits(d, value));
  } else if constexpr (std::is_same_v<T, bfloat16>) {
    const hn::RebindToUnsigned<D> u32;
    const auto bits = hn::BitCast(u32, value);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(u32, 1u));
    const auto carried = hn::Add(bits, hn::Add(odd, hn::Set(u32, 0x7FFFu)));
    const auto rounded = hn::BitCast(d, hn::And(carried, hn::Set(u32, 0xFFFF0000u)));
    return hn::IfThenElse(hn::Eq(value, value), rounded, value);
  } else {
    return value;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#endif
