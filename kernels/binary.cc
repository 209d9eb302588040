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

// Exact, by repeated steps of a few bits: no vector instruction does it.
void truncated_remainders(const Numbers&, std::size_t count, const float* const* x, float* y) {
  for (std::size_t i = 0; i < count; ++i) y[i] = std::fmod(x[0][i], x[1][i]);
}
void floored_remainders(const Numbers&, std::size_t count, const float* const* x, float* y) {
  for (std::size_t i = 0; i < count; ++i) {
    const float rest = std::fmod(x[0][i], x[1][i]);
    const bool has_other_sign = rest != 0 && (rest < 0) != (x[1][i] < 0);
    y[i] = has_other_sign ? rest + x[1][i] : rest;
  }
}

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
      {"fmod", truncated_remainders},
      {"remainder", floored_remainders},
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
