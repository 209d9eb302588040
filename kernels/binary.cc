// Element-wise y = f(x1, x2), and operators of three tensors. add, mul and axpy use a row's single
// element without expanding it; they are in kernels/arithmetic.cc and kernels/axpy.cc.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/binary.cc"
#include <hwy/foreach_target.h>

#include <cmath>

#include "kernels/formula-inl.h"
#include "kernels/formula.h"
#include "kernels/integers.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

struct Difference {
  HWY_INLINE VF32 operator()(VF32 a, VF32 b) const { return hn::Sub(a, b); }
};
struct Quotient {
  HWY_INLINE VF32 operator()(VF32 a, VF32 b) const { return hn::Div(a, b); }
};

// Selects a if it is greater or NaN. Only NaN differs from itself. (Ne is ordered in AVX.)
struct Greater {
  HWY_INLINE VF32 operator()(VF32 a, VF32 b) const {
    return hn::IfThenElse(hn::Eq(a, a), hn::IfThenElse(hn::Gt(a, b), a, b), a);
  }
};
struct Less {
  HWY_INLINE VF32 operator()(VF32 a, VF32 b) const {
    return hn::IfThenElse(hn::Eq(a, a), hn::IfThenElse(hn::Lt(a, b), a, b), a);
  }
};

struct MaximumGrad {
  HWY_INLINE VF32 operator()(VF32 dy, VF32 a, VF32 b) const {
    const VF32 unequal = hn::IfThenElse(hn::Lt(a, b), number(0), dy);  // NaN counts as not less
    return hn::IfThenElse(hn::Eq(a, b), hn::Mul(dy, number(0.5f)), unequal);
  }
};

struct DivGradOther {
  float value;
  explicit DivGradOther(const Numbers& numbers) : value(numbers[0]) {}
  HWY_INLINE VF32 operator()(VF32 dy, VF32 a, VF32 b) const {
    // dy is multiplied last: it may be large while the quotient is small.
    return hn::Mul(hn::Mul(dy, hn::Div(hn::Div(a, b), b)), number(-value));
  }
};

struct AddCMul {
  float value;
  explicit AddCMul(const Numbers& numbers) : value(numbers[0]) {}
  HWY_INLINE VF32 operator()(VF32 x, VF32 a, VF32 b) const {
    return hn::Add(x, hn::Mul(hn::Mul(number(value), a), b));
  }
};

struct AddCDiv {
  float value;
  explicit AddCDiv(const Numbers& numbers) : value(numbers[0]) {}
  HWY_INLINE VF32 operator()(VF32 x, VF32 a, VF32 b) const {
    return hn::Add(x, hn::Div(hn::Mul(number(value), a), b));
  }
};

// x/y truncated in both is exact up to 2^24 but for a quotient that was rounded up to a whole
// number. A fused product then has no error, and neither has the remainder with one y more. Other
// lanes, and targets without fused products, use the C library, which takes steps of a few bits.
struct TruncatedRemainder {
  HWY_INLINE VF32 operator()(VF32 x, VF32 y) const {
    const F32 d;
    const VF32 divisor = hn::Abs(y), quotient = hn::Floor(hn::Div(hn::Abs(x), divisor));
    const auto is_exact =
        hn::And(hn::Lt(quotient, number(0x1p24f)), hn::Lt(divisor, number(HUGE_VALF)));
    if (!HWY_NATIVE_FMA || !hn::AllTrue(d, is_exact)) return of_library(x, y);
    const VF32 rest = hn::NegMulAdd(quotient, divisor, hn::Abs(x));
    return hn::CopySign(hn::IfThenElse(hn::Lt(rest, number(0)), hn::Add(rest, divisor), rest), x);
  }

 private:
  static HWY_NOINLINE VF32 of_library(VF32 x, VF32 y) {
    HWY_ALIGN float a[hn::MaxLanes(F32())], b[hn::MaxLanes(F32())];
    hn::Store(x, F32(), a);
    hn::Store(y, F32(), b);
    for (std::size_t i = 0; i < hn::Lanes(F32()); ++i) a[i] = std::fmod(a[i], b[i]);
    return hn::Load(F32(), a);
  }
};
struct FlooredRemainder {
  HWY_INLINE VF32 operator()(VF32 x, VF32 y) const {
    const VF32 rest = TruncatedRemainder()(x, y), zero = number(0);
    const auto has_other_sign = hn::Xor(hn::Lt(rest, zero), hn::Lt(y, zero));
    const VF32 floored = hn::IfThenElse(has_other_sign, hn::Add(rest, y), rest);
    return hn::IfThenElse(hn::Eq(rest, zero), rest, floored);
  }
};

}  // namespace

std::span<const Formula> binary() {
  static constexpr Formula kFormulas[] = {
      {"sub", compute<Difference, 2>},
      {"div", compute<Quotient, 2>},
      {"div_grad_other", compute<DivGradOther, 3>},
      {"maximum", compute<Greater, 2>},
      {"minimum", compute<Less, 2>},
      {"maximum_grad", compute<MaximumGrad, 3>},
      {"addcmul", compute<AddCMul, 3>},
      {"addcdiv", compute<AddCDiv, 3>},
      {"fmod", compute<TruncatedRemainder, 2>},
      {"remainder", compute<FlooredRemainder, 2>},
  };
  return kFormulas;
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(binary);

template <bool kStream>
Launch prepare(const Problem& problem) {
  return formula_launch(problem, HWY_DYNAMIC_DISPATCH(binary)(), kStream);
}

const NativeFormulas kNative(prepare<false>, true,
                             {"sub", "div", "div_grad_other", "maximum", "minimum", "maximum_grad",
                              "addcmul", "addcdiv", "fmod", "remainder"});

Kernel with_int32(Kernel kernel) {
  kernel.dtypes = kVectorUnitDTypes;
  return kernel;
}

const RegisteredKernel kDevice[] = {
    RegisteredKernel(with_int32(
        npu_formula("sub", "sub", "Sub: one pass, streamed past the cache", prepare<true>))),
    RegisteredKernel(npu_formula("div", "real_div",
                                 "RealDiv at high precision: rounded once; one pass, streamed",
                                 prepare<true>)),
    RegisteredKernel(with_int32(npu_formula(
        "maximum", "maximum", "Maximum: one pass, streamed past the cache", prepare<true>))),
    RegisteredKernel(with_int32(npu_formula(
        "minimum", "minimum", "Minimum: one pass, streamed past the cache", prepare<true>))),
};

}  // namespace
}  // namespace opbench
#endif  // HWY_ONCE
