// Common parts of unary operators and their gradients on fp32 lanes: x^e with the same e for all
// lanes, and the inner function of gelu. Included once per target.
// clang-format off
#if defined(OPBENCH_KERNELS_UNARY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPBENCH_KERNELS_UNARY_INL_H_
#undef OPBENCH_KERNELS_UNARY_INL_H_
#else
#define OPBENCH_KERNELS_UNARY_INL_H_
#endif
// clang-format on

#include <cmath>

#include "kernels/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {

/// Like std::pow for zeros, infinities and negative numbers; NaN^0 is 1. Small integer exponents
/// use products; 0.5 and -0.5 use the root like torch.pow; others use exp and log, with an error
/// that grows with |e ln x|.
struct Power {
  float exponent;
  explicit Power(float e) : exponent(e) {}

  /// True for a small integer exponent.
  static bool is_product(float e) { return std::trunc(e) == e && std::fabs(e) <= 16; }

  HWY_INLINE VF32 operator()(VF32 x) const {
    if (is_product(exponent)) return by_products(x);
    if (exponent == 0.5f) return hn::Sqrt(x);
    if (exponent == -0.5f) return hn::Div(number(1), hn::Sqrt(x));
    const bool is_whole = std::trunc(exponent) == exponent;
    const VF32 size = exp_of(hn::Mul(number(exponent), log_of(hn::Abs(x))));
    if (is_whole) return std::fmod(exponent, 2.0f) == 0 ? size : hn::CopySign(size, x);
    // Negative numbers have no real root; -Inf is treated by its magnitude.
    const auto is_negative = hn::And(hn::Lt(x, number(0)), hn::Gt(x, number(-HUGE_VALF)));
    return hn::IfThenElse(is_negative, number(NAN), size);
  }

 private:
  // The inverse first: its power overflows exactly where the result does.
  HWY_INLINE VF32 by_products(VF32 x) const {
    VF32 factor = exponent < 0 ? hn::Div(number(1), x) : x, product = number(1);
    for (int left = std::abs(static_cast<int>(exponent)); left > 0; left /= 2) {
      if (left % 2 == 1) product = hn::Mul(product, factor);
      if (left > 1) factor = hn::Mul(factor, factor);
    }
    return product;
  }
};

inline constexpr float kRootOf8OverPi = 1.5957691216057308f;  // sqrt(8/pi)

// (1 + tanh(u))/2 is the sigmoid of 2u = sqrt(8/pi) (x + 0.044715 x^3).
HWY_INLINE VF32 twice_u(VF32 x) {
  const VF32 cubic = hn::Mul(hn::Mul(x, x), hn::Set(F32(), 0.044715f * kRootOf8OverPi));
  return hn::Mul(x, hn::Add(cubic, hn::Set(F32(), kRootOf8OverPi)));
}

// tanh(softplus(x)) and 1 minus its square, from e = e^x: ((1 + e)^2 - 1)/((1 + e)^2 + 1).
struct SoftplusTangent {
  VF32 e, tangent, rest;
};

// Beyond 20 the tangent is 1.
HWY_INLINE SoftplusTangent softplus_of(VF32 x) {
  const auto is_beyond = hn::Gt(x, number(20));
  const VF32 e = exp_of(hn::IfThenElse(is_beyond, number(20), x));
  const VF32 n = hn::Mul(e, hn::Add(e, number(2))), sum = hn::Add(n, number(2));
  const VF32 rest = hn::Div(hn::Mul(number(4), hn::Add(n, number(1))), hn::Mul(sum, sum));
  return {e, hn::Div(n, sum), hn::IfThenZeroElse(is_beyond, rest)};
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#endif
