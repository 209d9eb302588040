// Element-wise y = f(x). The device variants here are operators with the arithmetic of one
// instruction of the vector unit, which has exp, ln, sqrt and division in fp16 and fp32. At high
// precision fp16 is widened to fp32 and rounded once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/unary.cc"
#include <hwy/foreach_target.h>

#include "kernels/formula-inl.h"
#include "kernels/formula.h"
#include "kernels/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

struct Negative {
  HWY_INLINE VF32 operator()(VF32 x) const { return hn::Xor(x, number(-0.0f)); }
};
struct Absolute {
  HWY_INLINE VF32 operator()(VF32 x) const { return hn::Abs(x); }
};
struct Exponential {
  HWY_INLINE VF32 operator()(VF32 x) const { return exp_of(x); }
};
struct Logarithm {
  HWY_INLINE VF32 operator()(VF32 x) const { return log_of(x); }
};
struct SquareRoot {
  HWY_INLINE VF32 operator()(VF32 x) const { return hn::Sqrt(x); }
};
struct InverseRoot {
  HWY_INLINE VF32 operator()(VF32 x) const { return hn::Div(number(1), hn::Sqrt(x)); }
};
struct Tangent {
  HWY_INLINE VF32 operator()(VF32 x) const { return tanh_of(x); }
};
struct Sigmoid {
  HWY_INLINE VF32 operator()(VF32 x) const { return sigmoid_of(x); }
};

// NaN is neither less nor greater, and stays.
struct Clamp {
  float min, max;
  explicit Clamp(const Numbers& numbers) : min(numbers[0]), max(numbers[1]) {}
  HWY_INLINE VF32 operator()(VF32 x) const {
    const VF32 low = number(min), high = number(max);
    if (min == -std::numeric_limits<float>::max()) return below(x, high);
    return below(hn::IfThenElse(hn::Lt(x, low), low, x), high);
  }
  HWY_INLINE VF32 below(VF32 x, VF32 high) const {
    if (max == std::numeric_limits<float>::max()) return x;
    return hn::IfThenElse(hn::Gt(x, high), high, x);
  }
};

struct Gelu {
  HWY_INLINE VF32 operator()(VF32 x) const { return hn::Mul(x, normal_of(x).distribution); }
};
struct GeluTanh {
  HWY_INLINE VF32 operator()(VF32 x) const { return hn::Mul(x, sigmoid_of(twice_u(x))); }
};

struct Silu {
  HWY_INLINE VF32 operator()(VF32 x) const { return hn::Mul(x, sigmoid_of(x)); }
};

struct FastGelu {
  HWY_INLINE VF32 operator()(VF32 x) const {
    return hn::Mul(x, sigmoid_of(hn::Mul(x, number(1.702f))));
  }
};

struct Mish {
  HWY_INLINE VF32 operator()(VF32 x) const { return hn::Mul(x, softplus_of(x).tangent); }
};

struct Elu {
  float factor, scale, input_scale;
  explicit Elu(const Numbers& n) : factor(n[0] * n[1]), scale(n[1]), input_scale(n[2]) {}
  HWY_INLINE VF32 operator()(VF32 x) const {
    const VF32 below = hn::Sub(exp_of(hn::Mul(x, number(input_scale))), number(1));
    return hn::IfThenElse(hn::Gt(x, number(0)), hn::Mul(x, number(scale)),
                          hn::Mul(below, number(factor)));
  }
};

struct Celu : Elu {
  explicit Celu(const Numbers& n) : Elu({n[0], 1, 1 / n[0], 0}) {}
};

// 0 for NaN, as PyTorch 1.13 gives it.
struct SoftShrink {
  float limit;
  explicit SoftShrink(const Numbers& numbers) : limit(numbers[0]) {}
  HWY_INLINE VF32 operator()(VF32 x) const {
    const VF32 l = number(limit), beyond = hn::CopySign(hn::Sub(hn::Abs(x), l), x);
    return hn::IfThenElseZero(hn::Gt(hn::Abs(x), l), beyond);
  }
};
struct HardShrink {
  float limit;
  explicit HardShrink(const Numbers& numbers) : limit(numbers[0]) {}
  HWY_INLINE VF32 operator()(VF32 x) const {
    return hn::IfThenZeroElse(hn::Le(hn::Abs(x), number(limit)), x);
  }
};
struct Threshold {
  float limit, value;
  explicit Threshold(const Numbers& numbers) : limit(numbers[0]), value(numbers[1]) {}
  HWY_INLINE VF32 operator()(VF32 x) const {
    return hn::IfThenElse(hn::Le(x, number(limit)), number(value), x);
  }
};

// log(1 + e) is log(w) e/(w - 1) of the rounded sum w, which loses nothing of a small e.
struct LogSigmoid {
  HWY_INLINE VF32 operator()(VF32 x) const {
    const VF32 e = exp_of(minus_abs(x)), w = hn::Add(e, number(1)), rest = hn::Sub(w, number(1));
    const VF32 log =
        hn::IfThenElse(hn::Eq(rest, number(0)), e, hn::Div(hn::Mul(log_of(w), e), rest));
    return hn::Sub(hn::IfThenElse(hn::Lt(x, number(0)), x, number(0)), log);
  }
};

struct HardSigmoid {
  HWY_INLINE VF32 operator()(VF32 x) const {
    return hn::Div(relu6(hn::Add(x, number(3))), number(6));
  }
  // NaN is neither less nor greater, and stays.
  static HWY_INLINE VF32 relu6(VF32 x) {
    const VF32 above = hn::IfThenElse(hn::Lt(x, number(0)), number(0), x);
    return hn::IfThenElse(hn::Gt(above, number(6)), number(6), above);
  }
};
struct HardSwish {
  HWY_INLINE VF32 operator()(VF32 x) const { return hn::Mul(x, HardSigmoid()(x)); }
};

struct LeakyRelu {
  float slope;
  explicit LeakyRelu(const Numbers& numbers) : slope(numbers[0]) {}
  HWY_INLINE VF32 operator()(VF32 x) const {
    return hn::IfThenElse(hn::Gt(x, number(0)), x, hn::Mul(x, number(slope)));
  }
};

// The scalar target loses the sign of zero.
struct Floor {
  HWY_INLINE VF32 operator()(VF32 x) const { return hn::CopySign(hn::Floor(x), x); }
};
struct Ceil {
  HWY_INLINE VF32 operator()(VF32 x) const { return hn::CopySign(hn::Ceil(x), x); }
};
struct Trunc {
  HWY_INLINE VF32 operator()(VF32 x) const { return hn::CopySign(hn::Trunc(x), x); }
};
struct Round {
  HWY_INLINE VF32 operator()(VF32 x) const { return hn::CopySign(hn::Round(x), x); }
};

struct PowerOf : Power {
  explicit PowerOf(const Numbers& numbers) : Power(numbers[0]) {}
};
struct Square {
  HWY_INLINE VF32 operator()(VF32 x) const { return hn::Mul(x, x); }
};
struct Cube {
  HWY_INLINE VF32 operator()(VF32 x) const { return hn::Mul(x, hn::Mul(x, x)); }
};

// Frequent exponents without the choices for each vector.
void power(const Numbers& numbers, std::size_t count, const float* const* x, float* y) {
  const float exponent = numbers[0];
  (exponent == 2   ? compute<Square, 1>
   : exponent == 3 ? compute<Cube, 1>
                   : compute<PowerOf, 1>)(numbers, count, x, y);
}

}  // namespace

std::span<const Formula> unary() {
  static constexpr Formula kFormulas[] = {
      {"neg", compute<Negative, 1>},
      {"abs", compute<Absolute, 1>},
      {"clamp", compute<Clamp, 1>},
      {"exp", compute<Exponential, 1>},
      {"log", compute<Logarithm, 1>},
      {"sqrt", compute<SquareRoot, 1>},
      {"rsqrt", compute<InverseRoot, 1>},
      {"tanh", compute<Tangent, 1>},
      {"sigmoid", compute<Sigmoid, 1>},
      {"gelu", compute<Gelu, 1>},
      {"gelu_tanh", compute<GeluTanh, 1>},
      {"pow", power},
      {"silu", compute<Silu, 1>},
      {"hardsigmoid", compute<HardSigmoid, 1>},
      {"hardswish", compute<HardSwish, 1>},
      {"leaky_relu", compute<LeakyRelu, 1>},
      {"fast_gelu", compute<FastGelu, 1>},
      {"mish", compute<Mish, 1>},
      {"elu", compute<Elu, 1>},
      {"celu", compute<Celu, 1>},
      {"softshrink", compute<SoftShrink, 1>},
      {"hardshrink", compute<HardShrink, 1>},
      {"threshold", compute<Threshold, 1>},
      {"log_sigmoid", compute<LogSigmoid, 1>},
      {"floor", compute<Floor, 1>},
      {"ceil", compute<Ceil, 1>},
      {"trunc", compute<Trunc, 1>},
      {"round", compute<Round, 1>},
  };
  return kFormulas;
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(unary);

template <bool kStream>
Launch prepare(const Problem& problem) {
  return formula_launch(problem, HWY_DYNAMIC_DISPATCH(unary)(), kStream);
}

const NativeFormulas kNative(prepare<false>, false,
                             {"neg",       "abs",        "clamp",       "exp",        "log",
                              "sqrt",      "rsqrt",      "tanh",        "sigmoid",    "gelu",
                              "pow",       "silu",       "hardsigmoid", "hardswish",  "leaky_relu",
                              "fast_gelu", "mish",       "elu",         "floor",      "ceil",
                              "trunc",     "round",      "celu",        "softshrink", "hardshrink",
                              "threshold", "log_sigmoid"});

const RegisteredKernel kDevice[] = {
    RegisteredKernel(
        npu_formula("neg", "neg", "Neg: one pass, streamed past the cache", prepare<true>)),
    RegisteredKernel(
        npu_formula("abs", "abs", "Abs: one pass, streamed past the cache", prepare<true>)),
    RegisteredKernel(npu_formula(
        "exp", "exp",
        "Exp at high precision: fp16 widened to fp32; one pass, streamed past the cache",
        prepare<true>)),
    RegisteredKernel(npu_formula(
        "sqrt", "sqrt", "Sqrt at high precision: rounded once; one pass, streamed", prepare<true>)),
};

}  // namespace
}  // namespace opbench
#endif  // HWY_ONCE
