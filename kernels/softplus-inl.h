// The formulas of softplus and its gradient on fp32 lanes. Included once per target.
// clang-format off
#if defined(OPBENCH_KERNELS_SOFTPLUS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPBENCH_KERNELS_SOFTPLUS_INL_H_
#undef OPBENCH_KERNELS_SOFTPLUS_INL_H_
#else
#define OPBENCH_KERNELS_SOFTPLUS_INL_H_
#endif
// clang-format on

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <type_traits>

#include "kernels/simd/exp-inl.h"
#include "kernels/simd/simd-inl.h"
#include "kernels/softplus-short-inl.h"
#include "kernels/softplus.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {

HWY_INLINE VF32 constant(float value) { return hn::Set(F32(), value); }

// T is the type in memory. Short polynomials are enough for outputs of 11 bits or fewer.
template <class T>
inline constexpr bool kShort = !std::is_same_v<T, float>;

// The power of two by which exp is computed too large, so that it is normal where the result in
// fp32 is subnormal. Removing it rounds once. The range of fp16 ends long before.
template <class T>
inline constexpr int kExcess = std::is_same_v<T, half> ? 0 : 40;

// Polynomial coefficients are by Remez (fpminimax in fp32), like those of exp_fraction. linear +
// log(1+u) for 0 <= u <= 1.
template <class T>
HWY_INLINE VF32 add_log1p(VF32 linear, VF32 u) {
  if constexpr (kShort<T>) {  // log(1+u) = u R(u); error 5.7e-5, at most a ninth of fp16's last
                              // place
    VF32 r = constant(4.134730249643326e-2f);
    r = hn::MulAdd(r, u, constant(-0.15742720663547516f));
    r = hn::MulAdd(r, u, constant(0.30630093812942505f));
    r = hn::MulAdd(r, u, constant(-0.4969778060913086f));
    r = hn::MulAdd(r, u, constant(0.9999432563781738f));
    return hn::MulAdd(r, u, linear);
  } else {  // log(1+u) = u + u^2 Q(u): u is added last, so that for a small u the result is exact
            // to one rounding; error 5.4e-9
    VF32 q = constant(2.9965750873088836669921875e-3f);
    q = hn::MulAdd(q, u, constant(-1.807614602148532867431640625e-2f));
    q = hn::MulAdd(q, u, constant(5.10165691375732421875e-2f));
    q = hn::MulAdd(q, u, constant(-9.316428005695343017578125e-2f));
    q = hn::MulAdd(q, u, constant(0.1314118802547454833984375f));
    q = hn::MulAdd(q, u, constant(-0.164041936397552490234375f));
    q = hn::MulAdd(q, u, constant(0.1996481120586395263671875f));
    q = hn::MulAdd(q, u, constant(-0.2499763667583465576171875f));
    q = hn::MulAdd(q, u, constant(0.3333327770233154296875f));
    q = hn::MulAdd(q, u, constant(-0.5f));
    return hn::Add(linear, hn::MulAdd(hn::Mul(u, u), q, u));
  }
}

// -min(|t|, limit); -limit for NaN. AVX-512 has one instruction for this, vrangeps. But on Golden
// Cove it waits for the old value of its destination, and the loop ran 2.5 times slower.
HWY_INLINE VF32 minus_abs_clamped(VF32 t, float limit) {
  return hn::Max(hn::Or(t, constant(-0.0f)), constant(-limit));
}

// AVX-512 multiplies by 2^n for any n, so no clamp is needed: 2^-Inf times NaN is 0 there.
template <class T>
inline constexpr bool kScalef = kExcess<T> == 0 && HWY_TARGET == HWY_AVX3;

#if HWY_TARGET == HWY_AVX3
// exp(-|t| + low) as a power of two: vreduceps returns the fraction f of [0, 1), vscalefps uses the
// whole part. 2^f by Remez, error 2.6e-6.
template <bool kLow>
HWY_INLINE VF32 short_exp_minus_abs(VF32 t, VF32 low) {
  const VF32 log2_e = constant(1.44269502162933349609375f);
  VF32 power = hn::Mul(hn::Or(t, constant(-0.0f)), log2_e);
  if constexpr (kLow) power = hn::MulAdd(low, log2_e, power);
  constexpr int kLessItsFloor = 0x09;  // vreduceps: x - floor(x), no exceptions
  const VF32 f{_mm512_reduce_ps(power.raw, kLessItsFloor)};
  VF32 p = constant(1.3534167781472206e-2f);
  p = hn::MulAdd(p, f, constant(5.2011460065841675e-2f));
  p = hn::MulAdd(p, f, constant(0.2414427548646927f));
  p = hn::MulAdd(p, f, constant(0.6930038332939148f));
  p = hn::MulAdd(p, f, constant(1.0000026226043701f));
  return VF32{_mm512_scalef_ps(p.raw, power.raw)};
}
#endif

// 2^kExcess exp(-|t| + low), with -|t| = n ln 2 + r and n whole.
template <class T, bool kLow>
HWY_INLINE VF32 scaled_exp_minus_abs(VF32 t, VF32 low) {
#if HWY_TARGET == HWY_AVX3
  if constexpr (kScalef<T>) return short_exp_minus_abs<kLow>(t, low);
#endif
  // exp(-114)/beta is 0 in fp32 for every beta above 1e-4; exp(-87) is the last normal number.
  const VF32 z = minus_abs_clamped(t, kExcess<T> == 0 ? 87.0f : 114.0f);
  // Adding 1.5 * 2^23 rounds to a whole number in the low bits; here the exponent's bias is added
  // as well, so that it only has to be shifted.
  const VF32 magic = constant(12582912.0f + 127 + kExcess<T>);
  const VF32 shifted = hn::MulAdd(z, constant(1.44269502162933349609375f), magic);
  const VF32 n = hn::Sub(shifted, magic);
  VF32 r;
  if constexpr (kShort<T>) {
    r = hn::NegMulAdd(n, constant(0.693147182464599609375f), z);
  } else {
    // ln 2 in two parts (Cody and Waite): n times the first, which has 15 bits, is exact with and
    // without FMA.
    r = hn::NegMulAdd(n, constant(0.693145751953125f), z);
    r = hn::NegMulAdd(n, constant(1.428606765330187045037746429443359375e-6f), r);
  }
  if constexpr (kLow) r = hn::Add(r, low);
  const hn::RebindToSigned<F32> di;
  const VF32 scale = hn::BitCast(F32(), hn::ShiftLeft<23>(hn::BitCast(di, shifted)));
  return hn::Mul(exp_fraction<kShort<T>>(F32(), r), scale);
}

template <class T>
HWY_INLINE VF32 without_excess(VF32 scaled_value) {
  if constexpr (kExcess<T> == 0) return scaled_value;
  return hn::Mul(scaled_value, constant(0x1p-40f));
}

// t = beta*x and, if beta is not 1, the rounding error of the product.
struct Scaled {
  VF32 t, low;
};

// x*b - t without error, where t is the rounded product: one FMA, or (Dekker) exact products of
// halves of 12 bits.
HWY_INLINE VF32 product_rest(VF32 x, VF32 b, VF32 t) {
  if constexpr (HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3) return hn::MulSub(x, b, t);
  const hn::RebindToUnsigned<F32> du;
  const VF32 upper = hn::BitCast(F32(), hn::Set(du, 0xFFFFF000u));
  const VF32 x_high = hn::And(x, upper), x_low = hn::Sub(x, x_high);
  const VF32 b_high = hn::And(b, upper), b_low = hn::Sub(b, b_high);
  const VF32 rest = hn::Add(hn::Add(hn::Sub(hn::Mul(x_high, b_high), t), hn::Mul(x_high, b_low)),
                            hn::Mul(x_low, b_high));
  return hn::Add(rest, hn::Mul(x_low, b_low));
}

template <bool kUnitBeta>
HWY_INLINE Scaled scaled(VF32 x, float beta) {
  if constexpr (kUnitBeta) return {x, x};
  const VF32 b = constant(beta);
  const VF32 t = hn::Mul(x, b);
  // Inf - Inf is not a valid rest; beyond +-200 the rest does not matter.
  return {t, hn::IfThenElseZero(hn::Lt(hn::Abs(t), constant(200.0f)), product_rest(x, b, t))};
}

// beta*x <= threshold, decided on the rounded product like PyTorch. False for NaN.
HWY_INLINE hn::Mask<F32> within(Scaled s, float threshold) {
  return hn::Le(s.t, constant(threshold));
}

// 2^kExcess exp(-|t|)
template <bool kUnitBeta, class T>
HWY_INLINE VF32 scaled_exp_minus_abs(Scaled s) {
  // If t is positive, |t| grows with the rest.
  const VF32 low = kUnitBeta ? s.low : hn::Neg(hn::CopySign(s.low, hn::Xor(s.low, s.t)));
  return scaled_exp_minus_abs<T, !kUnitBeta>(s.t, low);
}

// SoftplusV2 like the dynamic kernel: exact log1p, select. max(t,0) + log1p(exp(-|t|)) never
// overflows, because exp has negative arguments only. Without kSelect the threshold is so high that
// the sum equals x there anyway.
template <bool kUnitBeta, class T, bool kSelect>
struct SoftplusV2 {
  SoftplusAttrs p;

  HWY_INLINE VF32 operator()(VF32 x) const {
    const Scaled s = scaled<kUnitBeta>(x, p.beta);
#if HWY_TARGET == HWY_AVX3
    if constexpr (kUnitBeta && std::is_same_v<T, half>) {
      const VF32 y = hn::Add(hn::Max(hn::Zero(F32()), x), short_log1p_exp_minus(hn::Abs(x)));
      return kSelect ? hn::IfThenElse(within(s, p.threshold), y, x) : y;
    }
#endif
    const VF32 excess_u = scaled_exp_minus_abs<kUnitBeta, T>(s);
    const VF32 u = without_excess<T>(excess_u), zero = hn::Zero(F32());
    VF32 y;
    // If one operand is NaN, x86's max returns the second: NaN stays.
    if constexpr (kUnitBeta)
      y = add_log1p<T>(hn::Max(zero, s.t), u);
    else
      y = over_beta(s.t, x, add_log1p<T>(zero, u), excess_u);
    if constexpr (!kSelect) return y;
    return hn::IfThenElse(within(s, p.threshold), y, x);
  }

 private:
  // (max(t, 0) + tail)/beta. max(t, 0)/beta is x itself or 0, and 1/beta has two parts, so that
  // beta costs hardly any accuracy. Far below zero the tail is u. There the division comes before
  // the removal of the excess, because a subnormal u has lost bits that the quotient needs.
  HWY_INLINE VF32 over_beta(VF32 t, VF32 x, VF32 tail, VF32 excess_u) const {
    const VF32 zero = hn::Zero(F32());
    const VF32 near = divided(tail, hn::IfThenElse(hn::Lt(t, zero), zero, x));
    const VF32 far = without_excess<T>(divided(excess_u, zero));
    return hn::IfThenElse(hn::Lt(t, constant(-40.0f)), far, near);
  }

  HWY_INLINE VF32 divided(VF32 v, VF32 linear) const {
    const float inverse = 1 / p.beta;
    const auto rest = static_cast<float>(1 / double(p.beta) - double(inverse));
    return hn::MulAdd(v, constant(inverse), hn::MulAdd(v, constant(rest), linear));
  }
};

// The type whose exp a gradient uses. dy may be Inf, and Inf times a slope of 0 is NaN. fp16's exp
// ends at exp(-87); a gradient therefore uses bf16's, which reaches 0 where fp32 does.
template <class T>
using GradSlope = std::conditional_t<kScalef<T> || !std::is_same_v<T, half>, T, bfloat16>;

// SoftplusV2Grad, dynamic: dy * sigmoid(t), in the form that does not overflow.
template <bool kUnitBeta, class T>
struct SoftplusV2Grad {
  using Slope = GradSlope<T>;
  SoftplusAttrs p;

  HWY_INLINE VF32 operator()(VF32 dy, VF32 x) const {
    const Scaled s = scaled<kUnitBeta>(x, p.beta);
    const VF32 one = constant(1.0f);
    const VF32 u = without_excess<Slope>(scaled_exp_minus_abs<kUnitBeta, Slope>(s));
    const VF32 numerator = hn::IfThenElse(hn::Lt(s.t, hn::Zero(F32())), u, one);
    const VF32 sigmoid = hn::Div(numerator, hn::Add(one, u));
    // If x is NaN both comparisons are false, and the product keeps the NaN.
    const VF32 slope =
        hn::IfThenElse(within(s, p.threshold), sigmoid, hn::IfThenElse(hn::Eq(x, x), one, x));
    return hn::Mul(dy, slope);
  }
};

// log(1 + e^-|t|) like a vector unit without log1p: the sum is first rounded to fp32, which loses
// e^-|t| from |t| = 17 on. sum - 1 is exact, so this is the logarithm of the rounded sum.
template <class T>
HWY_INLINE VF32 log_of_rounded_sum(VF32 t) {
  const VF32 one = constant(1.0f);
  const VF32 u = without_excess<T>(scaled_exp_minus_abs<true, T>(Scaled{t, t}));
  return add_log1p<T>(hn::Zero(F32()), hn::Sub(hn::Add(one, u), one));
}

// SoftplusV2 like the static kernel: log(1 + exp(t)), with the two cases joined by 0/1 masks and
// multiplication. For t > 0 the logarithm is t + log(1 + exp(-t)), up to the last bit or two.
// Ascend 910A saturates: exp(t) ends at the largest fp32 number, its logarithm at 88.7.
template <class T>
struct SoftplusV2Static {
  SoftplusAttrs p;

  HWY_INLINE VF32 operator()(VF32 x) const {
    const VF32 one = constant(1.0f), t = hn::Mul(x, constant(p.beta));
    const VF32 log = hn::Add(hn::Max(hn::Zero(F32()), t), log_of_rounded_sum<T>(t));
    const VF32 y = hn::Mul(hn::Min(log, constant(88.72283935546875f)), constant(1 / p.beta));
    const VF32 is_linear = hn::IfThenElseZero(hn::Gt(t, constant(p.threshold)), one);
    return hn::Add(hn::Mul(x, is_linear), hn::Mul(y, hn::Sub(one, is_linear)));
  }
};

// The gradient of this form, dy*e^t/(1+e^t) with the same masks. For t > 0 the quotient is
// 1/(1+e^-t).
template <class T>
struct SoftplusV2GradStatic {
  using Slope = GradSlope<T>;
  SoftplusAttrs p;

  HWY_INLINE VF32 operator()(VF32 dy, VF32 x) const {
    const VF32 one = constant(1.0f), t = hn::Mul(x, constant(p.beta));
    const VF32 u = without_excess<Slope>(scaled_exp_minus_abs<true, Slope>(Scaled{t, t}));
    const VF32 numerator = hn::IfThenElse(hn::Lt(t, hn::Zero(F32())), u, one);
    const VF32 sigmoid = hn::Div(numerator, hn::Add(one, u));
    const VF32 is_linear = hn::IfThenElseZero(hn::Gt(t, constant(p.threshold)), one);
    return hn::Mul(dy, hn::Add(is_linear, hn::Mul(sigmoid, hn::Sub(one, is_linear))));
  }
};

// Softplus (V1): log(1+e^-p) + p + log(1+e^m) - ln 2 with p = max(x,0), m = min(x,0). One of the
// logarithms is always that of 2.
template <class T>
struct SoftplusV1 {
  HWY_INLINE VF32 operator()(VF32 x) const {
    const VF32 zero = hn::Zero(F32()), ln2 = constant(0.693147182464599609375f);
    const auto is_negative = hn::Lt(x, zero);
    const VF32 p = hn::IfThenElse(is_negative, zero, x);
    const VF32 log = log_of_rounded_sum<T>(x);
    const VF32 upper = hn::IfThenElse(is_negative, ln2, log);
    const VF32 lower = hn::IfThenElse(is_negative, log, ln2);
    return hn::Sub(hn::Add(hn::Add(upper, p), lower), ln2);
  }
};

// SoftplusGrad (V1): dy*e^x/(1+e^x). Inf/Inf is NaN for x > 88.7: a defect of the real operator,
// reproduced here.
struct SoftplusV1Grad {
  HWY_INLINE VF32 operator()(VF32 dy, VF32 x) const {
    const VF32 e = hn::Exp(F32(), hn::Min(x, constant(104.0f)));
    return hn::Div(hn::Mul(dy, e), hn::Add(constant(1.0f), e));
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#endif
