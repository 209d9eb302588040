// Element-wise dx = f(dy, saved). Products are ordered so that no intermediate result overflows or
// underflows unless dx does.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/unary_grad.cc"
#include <hwy/foreach_target.h>

#include "kernels/formula-inl.h"
#include "kernels/formula.h"
#include "kernels/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

// f(dy)/2: large numbers are halved before f and small ones after f.
template <class Function>
HWY_INLINE VF32 half_of(VF32 dy, const Function& f) {
  const auto is_small = hn::Lt(hn::Abs(dy), number(1));
  const VF32 one = number(1), half = number(0.5f);
  const VF32 y = f(hn::Mul(dy, hn::IfThenElse(is_small, one, half)));
  return hn::Mul(y, hn::IfThenElse(is_small, half, one));
}

struct AbsGrad {
  HWY_INLINE VF32 operator()(VF32 dy, VF32 x) const {
    const VF32 zero = number(0);
    const VF32 sign = hn::Sub(hn::IfThenElseZero(hn::Gt(x, zero), number(1)),
                              hn::IfThenElseZero(hn::Lt(x, zero), number(1)));
    return hn::Mul(dy, sign);
  }
};

struct ClampGrad {
  float min, max;
  explicit ClampGrad(const Numbers& numbers) : min(numbers[0]), max(numbers[1]) {
    constexpr float kNone = std::numeric_limits<float>::max();
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    if (min == -kNone) min = -kInfinity;
    if (max == kNone) max = kInfinity;
  }
  HWY_INLINE VF32 operator()(VF32 dy, VF32 x) const {
    return hn::IfThenElseZero(hn::And(hn::Ge(x, number(min)), hn::Le(x, number(max))), dy);
  }
};

struct SqrtGrad {
  HWY_INLINE VF32 operator()(VF32 dy, VF32 y) const {
    return half_of(dy, [y](VF32 scaled) HWY_ATTR { return hn::Div(scaled, y); });
  }
};

struct RsqrtGrad {
  HWY_INLINE VF32 operator()(VF32 dy, VF32 y) const {
    return hn::Neg(half_of(
        dy, [y](VF32 scaled) HWY_ATTR { return hn::Mul(hn::Mul(hn::Mul(scaled, y), y), y); }));
  }
};

struct TanhGrad {
  HWY_INLINE VF32 operator()(VF32 dy, VF32 y) const {
    const VF32 one = number(1);
    return hn::Mul(dy, hn::Mul(hn::Sub(one, y), hn::Add(one, y)));
  }
};

struct SigmoidGrad {
  HWY_INLINE VF32 operator()(VF32 dy, VF32 y) const {
    return hn::Mul(hn::Mul(dy, hn::Sub(number(1), y)), y);
  }
};

struct GeluGrad {
  HWY_INLINE VF32 operator()(VF32 dy, VF32 x) const {
    const Normal normal = normal_of(x);
    const VF32 density = hn::Mul(normal.bell, number(0.3989422804014327f));
    return hn::Mul(dy, hn::MulAdd(x, density, normal.distribution));
  }
};

// s + x s (1 - s) (2u)'; beyond 16 the derivative of u does not matter and must not overflow.
struct GeluGradTanh {
  HWY_INLINE VF32 operator()(VF32 dy, VF32 x) const {
    const VF32 s = sigmoid_of(twice_u(x));
    const VF32 near = hn::Min(hn::Abs(x), number(16));
    const VF32 slope = hn::MulAdd(hn::Mul(near, near), number(3 * 0.044715f * kRootOf8OverPi),
                                  number(kRootOf8OverPi));
    const VF32 turn = hn::Mul(hn::Mul(x, hn::Mul(s, hn::Sub(number(1), s))), slope);
    return hn::Mul(dy, hn::Add(s, turn));
  }
};

struct PowGrad {
  float exponent;
  explicit PowGrad(const Numbers& numbers) : exponent(numbers[0]) {}
  HWY_INLINE VF32 operator()(VF32 dy, VF32 x) const {
    if (exponent == 0) return number(0);
    const float left = exponent - 1;
    if (!Power::is_product(left)) {
      return hn::Mul(dy, hn::Mul(number(exponent), Power(left)(x)));
    }
    // Factor by factor, because the power of x may leave the range while the gradient does not.
    for (int i = 0; i < std::abs(static_cast<int>(left)); ++i) {
      dy = left > 0 ? hn::Mul(dy, x) : hn::Div(dy, x);
    }
    return hn::Mul(dy, number(exponent));
  }
};

struct SiluGrad {
  HWY_INLINE VF32 operator()(VF32 dy, VF32 x) const {
    const VF32 s = sigmoid_of(x), rest = hn::Sub(number(1), s);
    return hn::Mul(dy, hn::Mul(s, hn::MulAdd(x, rest, number(1))));
  }
};

struct FastGeluGrad {
  HWY_INLINE VF32 operator()(VF32 dy, VF32 x) const {
    const VF32 s = sigmoid_of(hn::Mul(x, number(1.702f))), rest = hn::Sub(number(1), s);
    // 1.702 x may be Inf. Its factor is then 0, and comes first.
    return hn::Mul(dy, hn::MulAdd(hn::Mul(hn::Mul(s, rest), number(1.702f)), x, s));
  }
};

struct MishGrad {
  HWY_INLINE VF32 operator()(VF32 dy, VF32 x) const {
    const SoftplusTangent of = softplus_of(x);
    const VF32 s = hn::Div(of.e, hn::Add(of.e, number(1)));
    return hn::Mul(dy, hn::MulAdd(hn::Mul(x, s), of.rest, of.tangent));
  }
};

struct ErfGrad {
  HWY_INLINE VF32 operator()(VF32 dy, VF32 x) const {
    const VF32 bell = exp_of_negative(F32(), hn::Neg(hn::Mul(x, x)));
    return hn::Mul(dy, hn::Mul(bell, number(1.1283791670955126f)));
  }
};

struct EluGrad {
  float factor, scale, input_scale;
  explicit EluGrad(const Numbers& n) : factor(n[0] * n[1] * n[2]), scale(n[1]), input_scale(n[2]) {}
  HWY_INLINE VF32 operator()(VF32 dy, VF32 x) const {
    const VF32 below = hn::Mul(exp_of(hn::Mul(x, number(input_scale))), number(factor));
    return hn::Mul(dy, hn::IfThenElse(hn::Gt(x, number(0)), number(scale), below));
  }
};

struct CeluGrad : EluGrad {
  explicit CeluGrad(const Numbers& n) : EluGrad({n[0], 1, 1 / n[0], 0}) {}
};
// From y = elu(x), which is alpha*scale above its limit.
struct EluResultGrad {
  float factor, scale, input_scale;
  explicit EluResultGrad(const Numbers& n) : factor(n[0] * n[1]), scale(n[1]), input_scale(n[2]) {}
  HWY_INLINE VF32 operator()(VF32 dy, VF32 y) const {
    const VF32 below = hn::Mul(hn::Add(y, number(factor)), number(input_scale));
    return hn::Mul(dy, hn::IfThenElse(hn::Gt(y, number(0)), number(scale), below));
  }
};

struct ShrinkGrad {
  float limit;
  explicit ShrinkGrad(const Numbers& numbers) : limit(numbers[0]) {}
  HWY_INLINE VF32 operator()(VF32 dy, VF32 x) const {
    return hn::IfThenZeroElse(hn::Le(hn::Abs(x), number(limit)), dy);
  }
};
struct ThresholdGrad {
  float limit;
  explicit ThresholdGrad(const Numbers& numbers) : limit(numbers[0]) {}
  HWY_INLINE VF32 operator()(VF32 dy, VF32 x) const {
    return hn::IfThenZeroElse(hn::Le(x, number(limit)), dy);
  }
};

struct LogSigmoidGrad {
  HWY_INLINE VF32 operator()(VF32 dy, VF32 x) const { return hn::Mul(dy, sigmoid_of(hn::Neg(x))); }
};

struct HardSigmoidGrad {
  HWY_INLINE VF32 operator()(VF32 dy, VF32 x) const {
    return hn::IfThenElseZero(hn::Lt(hn::Abs(x), number(3)), hn::Div(dy, number(6)));
  }
};

struct HardSwishGrad {
  HWY_INLINE VF32 operator()(VF32 dy, VF32 x) const {
    const VF32 between = hn::Mul(dy, hn::Add(hn::Div(x, number(3)), number(0.5f)));
    const VF32 above = hn::IfThenElse(hn::Gt(x, number(3)), dy, between);
    return hn::IfThenElse(hn::Lt(x, number(-3)), number(0), above);
  }
};

struct LeakyReluGrad {
  float slope;
  explicit LeakyReluGrad(const Numbers& numbers) : slope(numbers[0]) {}
  HWY_INLINE VF32 operator()(VF32 dy, VF32 x) const {
    return hn::IfThenElse(hn::Gt(x, number(0)), dy, hn::Mul(dy, number(slope)));
  }
};

// The gradient at the bounds is 0.
struct HardtanhGrad : ClampGrad {
  explicit HardtanhGrad(const Numbers& numbers) : ClampGrad(numbers) {}
  HWY_INLINE VF32 operator()(VF32 dy, VF32 x) const {
    const auto is_out = hn::Or(hn::Le(x, number(min)), hn::Ge(x, number(max)));
    return hn::IfThenElse(is_out, number(0), dy);
  }
};

}  // namespace

std::span<const Formula> unary_grad() {
  static constexpr Formula kFormulas[] = {
      {"abs_grad", compute<AbsGrad, 2>},
      {"clamp_grad", compute<ClampGrad, 2>},
      {"sqrt_grad", compute<SqrtGrad, 2>},
      {"rsqrt_grad", compute<RsqrtGrad, 2>},
      {"tanh_grad", compute<TanhGrad, 2>},
      {"sigmoid_grad", compute<SigmoidGrad, 2>},
      {"gelu_grad", compute<GeluGrad, 2>},
      {"gelu_grad_tanh", compute<GeluGradTanh, 2>},
      {"pow_grad", compute<PowGrad, 2>},
      {"silu_grad", compute<SiluGrad, 2>},
      {"hardsigmoid_grad", compute<HardSigmoidGrad, 2>},
      {"hardswish_grad", compute<HardSwishGrad, 2>},
      {"leaky_relu_grad", compute<LeakyReluGrad, 2>},
      {"hardtanh_grad", compute<HardtanhGrad, 2>},
      {"fast_gelu_grad", compute<FastGeluGrad, 2>},
      {"mish_grad", compute<MishGrad, 2>},
      {"erf_grad", compute<ErfGrad, 2>},
      {"elu_grad", compute<EluGrad, 2>},
      {"celu_grad", compute<CeluGrad, 2>},
      {"elu_result_grad", compute<EluResultGrad, 2>},
      {"shrink_grad", compute<ShrinkGrad, 2>},
      {"threshold_grad", compute<ThresholdGrad, 2>},
      {"log_sigmoid_grad", compute<LogSigmoidGrad, 2>},
  };
  return kFormulas;
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(unary_grad);

Launch prepare(const Problem& problem) {
  return formula_launch(problem, HWY_DYNAMIC_DISPATCH(unary_grad)(), false);
}

const NativeFormulas kNative(
    prepare, false,
    {"abs_grad",       "clamp_grad",      "sqrt_grad",     "rsqrt_grad",      "tanh_grad",
     "sigmoid_grad",   "gelu_grad",       "pow_grad",      "silu_grad",       "hardsigmoid_grad",
     "hardswish_grad", "leaky_relu_grad", "hardtanh_grad", "fast_gelu_grad",  "mish_grad",
     "erf_grad",       "elu_grad",        "celu_grad",     "elu_result_grad", "shrink_grad",
     "threshold_grad", "log_sigmoid_grad"});

}  // namespace
}  // namespace opbench
#endif  // HWY_ONCE
