// Functions of fp32 lanes that are correct for every value: NaN stays NaN, and infinities and
// subnormal numbers give the result of fp64. Included once per target.
// clang-format off
#if defined(OPBENCH_KERNELS_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPBENCH_KERNELS_MATH_INL_H_
#undef OPBENCH_KERNELS_MATH_INL_H_
#else
#define OPBENCH_KERNELS_MATH_INL_H_
#endif
// clang-format on

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <limits>

#include "kernels/simd/exp-inl.h"
#include "kernels/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {

HWY_INLINE VF32 number(float value) { return hn::Set(F32(), value); }
HWY_INLINE VF32 minus_abs(VF32 x) { return hn::Or(x, number(-0.0f)); }

// e^x; Highway's function is for numbers up to 104, which gives Inf already.
HWY_INLINE VF32 exp_of(VF32 x) {
  const VF32 most = number(104.0f);
  const VF32 y = hn::Exp(F32(), hn::IfThenElse(hn::Gt(x, most), most, x));
  return hn::IfThenElse(hn::Eq(x, x), y, x);
}

// ln x; Highway's function is for positive finite numbers.
HWY_INLINE VF32 log_of(VF32 x) {
  const VF32 zero = number(0), infinity = number(std::numeric_limits<float>::infinity());
  const VF32 of_finite = hn::IfThenElse(hn::Lt(x, infinity), hn::Log(F32(), x), x);
  const VF32 of_others = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity),
                                        number(std::numeric_limits<float>::quiet_NaN()));
  return hn::IfThenElse(hn::Gt(x, zero), of_finite, of_others);
}

HWY_INLINE VF32 tanh_of(VF32 x) { return hn::Tanh(F32(), x); }

// 1/(1 + e^-x) with exp of negative numbers only, so that nothing overflows.
HWY_INLINE VF32 sigmoid_of(VF32 x) {
  const VF32 e = exp_of_negative(F32(), minus_abs(x));
  const VF32 y = hn::Div(number(1), hn::Add(number(1), e));
  return hn::IfThenElse(hn::Ge(x, number(0)), y, hn::Mul(e, y));
}

// The normal distribution function P(x), and sqrt(2 pi) times its density.
struct Normal {
  VF32 distribution, bell;
};

// P(-a) = e^(-a^2/2) H(a) with H(a) = erfcx(a/sqrt(2))/2 = t Q(t), t = 1/(1 + 0.28 a): Q
// interpolates at Chebyshev nodes for a <= 14.5 with an error of 9.3e-8. For large a the rounding
// of a^2 dominates: 4e-6.
HWY_INLINE Normal normal_of(VF32 x) {
  const VF32 bell = exp_of_negative(F32(), hn::Mul(hn::Mul(x, x), number(-0.5f)));
  const VF32 t = hn::Div(number(1), hn::MulAdd(hn::Abs(x), number(0.28f), number(1)));
  VF32 q = number(2.2061174735426903e-2f);
  q = hn::MulAdd(q, t, number(-8.002910763025284e-2f));
  q = hn::MulAdd(q, t, number(6.336507201194763e-2f));
  q = hn::MulAdd(q, t, number(2.7590982615947723e-2f));
  q = hn::MulAdd(q, t, number(4.903272166848183e-2f));
  q = hn::MulAdd(q, t, number(9.368573129177094e-2f));
  q = hn::MulAdd(q, t, number(1.005701944231987e-1f));
  q = hn::MulAdd(q, t, number(1.1203809827566147e-1f));
  q = hn::MulAdd(q, t, number(1.116851419210434e-1f));
  const VF32 tail = hn::Mul(bell, hn::Mul(q, t));
  return {hn::IfThenElse(hn::Gt(x, number(0)), hn::Sub(number(1), tail), tail), bell};
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#endif
