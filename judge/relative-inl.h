// msaccucmp's relative errors and its KL divergence. Included once per target.
// clang-format off
#if defined(OPBENCH_COMPARE_RELATIVE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPBENCH_COMPARE_RELATIVE_INL_H_
#undef OPBENCH_COMPARE_RELATIVE_INL_H_
#else
#define OPBENCH_COMPARE_RELATIVE_INL_H_
#endif
// clang-format on

#include <hwy/highway.h>

#include <cstdint>

#include "judge/block-inl.h"
#include "judge/measure_vector.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {

// Half the lanes of fp32 make one vector of fp64.
HWY_INLINE VF64 sum_of_halves(VF32 v) {
#if HWY_TARGET == HWY_SCALAR
  return hn::PromoteTo(F64(), v);  // the one lane there is
#else
  const VF64 low = hn::PromoteTo(F64(), hn::LowerHalf(hn::Half<F32>(), v));
  return hn::Add(low, hn::PromoteTo(F64(), hn::UpperHalf(hn::Half<F32>(), v)));
#endif
}

BlockRelative relative_errors(std::size_t count, const float* x, const float* y) {
  const VF32 epsilon = hn::Set(F32(), 0x1p-52F), one = hn::Set(F32(), 1.0F);
  VF64 sum = hn::Zero(F64());
  VF32 max = hn::Zero(F32());
  for_each_vector(hn::Lanes(F32()), count, x, y,
                  [&](const float* a, const float* b, std::size_t) HWY_ATTR {
                    const VF32 vx = hn::LoadU(F32(), a), vy = hn::LoadU(F32(), b);
                    const VF32 rel = hn::Abs(hn::Sub(hn::Div(vx, vy), one));
                    const VF32 counted = hn::IfThenElseZero(hn::Gt(hn::Abs(vy), epsilon), rel);
                    max = hn::Max(max, counted);
                    sum = hn::Add(sum, sum_of_halves(counted));
                  });
  return {sum_of(sum), largest_lane(F32(), max)};
}

// log(p/q) for positive normal p and q, within 2e-13 and, where both are close, within some 2^-52
// of itself. With q' = q * 2^k between p/1.5 and 1.5p it is k*log(2) + 2*atanh(s), s =
// (p-q')/(p+q'), |s| <= 0.2: one division, and p - q' is exact.
HWY_INLINE VF64 log_quotient(VF64 p, VF64 q) {
  const hn::RebindToSigned<F64> i64;
  const auto p_bits = hn::BitCast(i64, p), q_bits = hn::BitCast(i64, q);
  // Bits grow by 2^52 from one power of two to the next, evenly between them.
  const auto half_step = hn::Set(i64, std::int64_t{1} << 51);
  const auto k = hn::ShiftRight<52>(hn::Add(hn::Sub(p_bits, q_bits), half_step));
  const VF64 scaled = hn::BitCast(F64(), hn::Add(q_bits, hn::ShiftLeft<52>(k)));
  const VF64 s = hn::Div(hn::Sub(p, scaled), hn::Add(p, scaled));
  const VF64 square = hn::Mul(s, s);
  // atanh(s)/s = 1 + s^2/3 + s^4/5 + ... + s^14/15; the next is 1.5e-13 where s is 0.2.
  VF64 series = number(1.0 / 15);
  series = hn::MulAdd(series, square, number(1.0 / 13));
  series = hn::MulAdd(series, square, number(1.0 / 11));
  series = hn::MulAdd(series, square, number(1.0 / 9));
  series = hn::MulAdd(series, square, number(1.0 / 7));
  series = hn::MulAdd(series, square, number(1.0 / 5));
  series = hn::MulAdd(series, square, number(1.0 / 3));
  series = hn::MulAdd(series, square, number(1));
  constexpr double kLog2 = 0.69314718055994530942;
  return hn::MulAdd(hn::ConvertTo(F64(), k), number(kLog2), hn::Mul(hn::Add(s, s), series));
}

HWY_INLINE VF64 normalised(const KlScale& scale, VF64 value) {
  const VF64 spread = hn::Mul(hn::Sub(value, number(scale.shift)), number(scale.scale));
  return hn::Max(spread, number(0x1p-23));
}

KlSums kl_sums(const KlScales& scales, std::size_t count, const float* x, const float* y) {
  const std::size_t lanes = hn::Lanes(F64());
  VF64 sum_x = hn::Zero(F64()), sum_y = sum_x, sum_log = sum_x;
  for_each_vector(lanes, count, x, y, [&](const float* a, const float* b, std::size_t i) HWY_ATTR {
    VF64 p = normalised(scales.x, doubles(a)), q = normalised(scales.y, doubles(b));
    VF64 term = hn::Mul(p, log_quotient(p, q));
    if (i + lanes > count) {
      const auto is_real = hn::FirstN(F64(), count - i);
      p = hn::IfThenElseZero(is_real, p);
      q = hn::IfThenElseZero(is_real, q);
      term = hn::IfThenElseZero(is_real, term);
    }
    sum_x = hn::Add(sum_x, p);
    sum_y = hn::Add(sum_y, q);
    sum_log = hn::Add(sum_log, term);
  });
  return {sum_of(sum_x), sum_of(sum_y), sum_of(sum_log)};
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#endif
