// fp16 and bf16 lanes to and from fp32 lanes. Included once per target.
// clang-format off
#if defined(OPBENCH_TENSOR_HALF_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPBENCH_TENSOR_HALF_INL_H_
#undef OPBENCH_TENSOR_HALF_INL_H_
#else
#define OPBENCH_TENSOR_HALF_INL_H_
#endif
// clang-format on

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
using Bits16 = hn::Vec<hn::Rebind<std::uint16_t, D>>;

// Highway's emulation of fp16 flushes subnormals. On hardware without fp16 the bits are therefore
// moved here.
inline constexpr bool kHardwareHalf = HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128;

/// fp16 patterns as fp32 lanes: exact; a NaN keeps its payload and becomes quiet.
template <class D>
HWY_INLINE hn::Vec<D> widen_half_bits(D d, Bits16<D> stored) {
  if constexpr (kHardwareHalf) {
    return hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::float16_t, D>(), stored));
  } else {
    const hn::RebindToSigned<D> i32;
    const auto bits = hn::PromoteTo(i32, stored);
    const auto magnitude = hn::And(bits, hn::Set(i32, 0x7FFF));
    const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(i32, 0x8000)));
    // Exponent and mantissa moved to their places in fp32 are the value times 2^-112, also for
    // subnormals.
    const auto moved = hn::ShiftLeft<13>(magnitude);
    const auto finite = hn::BitCast(i32, hn::Mul(hn::BitCast(d, moved), hn::Set(d, 0x1p112f)));
    const auto special = hn::Or(moved, hn::Set(i32, 0x7F800000));
    const auto quiet = hn::IfThenElse(hn::Gt(magnitude, hn::Set(i32, 0x7C00)),
                                      hn::Or(special, hn::Set(i32, 0x00400000)), special);
    const auto result = hn::IfThenElse(hn::Lt(magnitude, hn::Set(i32, 0x7C00)), finite, quiet);
    return hn::BitCast(d, hn::Or(result, sign));
  }
}

template <class D>
HWY_INLINE hn::Vec<D> load_half(D d, const std::uint16_t* from) {
  return widen_half_bits(d, hn::LoadU(hn::Rebind<std::uint16_t, D>(), from));
}

/// fp32 lanes rounded to fp16 patterns (nearest, ties to even). Overflow gives Inf, NaN a quiet
/// NaN.
template <class D>
HWY_INLINE Bits16<D> round_to_half_bits(D d, hn::Vec<D> value) {
  const hn::Rebind<std::uint16_t, D> u16;
  if constexpr (kHardwareHalf) {
    return hn::BitCast(u16, hn::DemoteTo(hn::Rebind<hwy::float16_t, D>(), value));
  } else {
    const hn::RebindToSigned<D> i32;
    const auto bits = hn::BitCast(i32, value);
    const auto magnitude = hn::And(bits, hn::Set(i32, 0x7FFFFFFF));
    const auto sign = hn::And(hn::ShiftRight<16>(bits), hn::Set(i32, 0x8000));
    // Normal results: the exponent is rebiased by -112 and 13 bits are rounded off; a carry
    // increments the exponent.
    const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(i32, 1));
    const auto bias = hn::Add(odd, hn::Set(i32, 0xFFF - (112 << 23)));
    const auto normal = hn::ShiftRight<13>(hn::Add(magnitude, bias));
    // Results below 2^-14 are multiples of 2^-24; adding 0.5 in fp32 rounds to such a multiple.
    const auto shifted = hn::Add(hn::BitCast(d, magnitude), hn::Set(d, 0.5f));
    const auto subnormal = hn::Sub(hn::BitCast(i32, shifted), hn::Set(i32, 0x3F000000));
    const auto finite =
        hn::IfThenElse(hn::Lt(magnitude, hn::Set(i32, 0x38800000)), subnormal, normal);
    // Numbers from 65520 on, half a unit above the largest, round to Inf.
    const auto capped =
        hn::IfThenElse(hn::Lt(magnitude, hn::Set(i32, 0x477FF000)), finite, hn::Set(i32, 0x7C00));
    const auto quiet =
        hn::Or(hn::And(hn::ShiftRight<13>(magnitude), hn::Set(i32, 0x03FF)), hn::Set(i32, 0x7E00));
    const auto result = hn::IfThenElse(hn::Gt(magnitude, hn::Set(i32, 0x7F800000)), quiet, capped);
    return hn::DemoteTo(u16, hn::Or(result, sign));
  }
}

/// bf16 patterns at `from` as fp32 lanes; exact.
template <class D>
HWY_INLINE hn::Vec<D> load_bfloat16(D d, const std::uint16_t* from) {
  const hn::RebindToUnsigned<D> u32;
  const auto stored = hn::LoadU(hn::Rebind<std::uint16_t, D>(), from);
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(u32, stored)));
}

/// fp32 lanes rounded to bf16 patterns (nearest, ties to even); NaN gives a quiet NaN. Integer
/// arithmetic, because Highway's conversion truncates.
template <class D>
HWY_INLINE Bits16<D> round_to_bfloat16_bits(D, hn::Vec<D> value) {
  const hn::RebindToUnsigned<D> u32;
  const auto bits = hn::BitCast(u32, value);
  const auto upper = hn::ShiftRight<16>(bits);
  const auto odd = hn::And(upper, hn::Set(u32, 1u));
  const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(u32, 0x7FFFu))));
  const auto is_number = hn::RebindMask(u32, hn::Eq(value, value));
  const auto result = hn::IfThenElse(is_number, rounded, hn::Or(upper, hn::Set(u32, 0x40u)));
  return hn::DemoteTo(hn::Rebind<std::uint16_t, D>(), hn::BitCast(hn::RebindToSigned<D>(), result));
}

#if HWY_TARGET != HWY_SCALAR
/// Two vectors of fp32 lanes as one of bf16 patterns, rounded like those of one vector.
template <class D>
HWY_INLINE hn::Vec<hn::Repartition<std::uint16_t, D>> round_two_to_bfloat16_bits(D d,
                                                                                 hn::Vec<D> lower,
                                                                                 hn::Vec<D> upper) {
  const hn::Repartition<std::uint16_t, D> u16;
  const auto sum = hn::Add(lower, upper);  // NaN for a NaN, and for Inf and -Inf
  if (HWY_UNLIKELY(!hn::AllTrue(d, hn::Eq(sum, sum)))) {
    return hn::Combine(u16, round_to_bfloat16_bits(d, upper), round_to_bfloat16_bits(d, lower));
  }
  const auto low = hn::BitCast(u16, lower), high = hn::BitCast(u16, upper);
  const auto kept = hn::ConcatOdd(u16, high, low), dropped = hn::ConcatEven(u16, high, low);
  // Bit 15 of the average is the carry of dropped + 0x7FFF + the last bit that is kept.
  const auto bias = hn::OrAnd(hn::Set(u16, 0x7FFE), kept, hn::Set(u16, 1));
  return hn::Add(kept, hn::ShiftRight<15>(hn::AverageRound(dropped, bias)));
}

/// Two vectors of fp32 lanes as one of fp16 patterns.
template <class D>
HWY_INLINE hn::Vec<hn::Repartition<std::uint16_t, D>> round_two_to_half_bits(D d, hn::Vec<D> lower,
                                                                             hn::Vec<D> upper) {
  const hn::Repartition<std::uint16_t, D> u16;
  return hn::Combine(u16, round_to_half_bits(d, upper), round_to_half_bits(d, lower));
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#endif
