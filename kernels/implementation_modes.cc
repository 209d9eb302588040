// Element-wise operators of the NPU that compute otherwise in its implementation modes, by the
// dynamic kernels of CANN 8.1 for 910B: sigmoid.py, tanh.py, gelu_v2.py and gelu.py. Sums of
// products are not fused. The modes of Exp, Sqrt and RealDiv differ by the rounding of one
// instruction, which is not published.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/implementation_modes.cc"
#include <hwy/foreach_target.h>

#include "kernels/formula-inl.h"
#include "kernels/formula.h"
#include "kernels/simd/rounded-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

HWY_INLINE VF32 in_half(VF32 x) { return rounded_as<half>(F32(), x); }

// NaN is neither less nor greater, and stays.
HWY_INLINE VF32 at_least(VF32 x, float bound) {
  return hn::IfThenElse(hn::Lt(x, number(bound)), number(bound), x);
}
HWY_INLINE VF32 at_most(VF32 x, float bound) {
  return hn::IfThenElse(hn::Gt(x, number(bound)), number(bound), x);
}

// first, then p*by + each of the others.
template <class... Others>
HWY_INLINE VF32 polynomial(VF32 by, float first, Others... others) {
  VF32 p = number(first);
  ((p = hn::Add(hn::Mul(p, by), number(others))), ...);
  return p;
}

struct Sigmoid {
  HWY_INLINE VF32 operator()(VF32 x) const {
    return hn::Div(number(1), hn::Add(exp_of(hn::Neg(x)), number(1)));
  }
};

// e^-x is Inf for x < -11.09, so that the result is 0.
struct SigmoidInHalf {
  HWY_INLINE VF32 operator()(VF32 x) const {
    const VF32 e = in_half(exp_of(hn::Neg(x)));
    return hn::Div(number(1), in_half(hn::Add(e, number(1))));
  }
};

// -ln 65504, rounded to fp16, keeps e^-x finite.
struct SigmoidOn910a {
  HWY_INLINE VF32 operator()(VF32 x) const { return SigmoidInHalf()(at_least(x, -0x1.62cp3f)); }
};

HWY_INLINE VF32 tanh_by_exp(VF32 x) {
  const VF32 e = exp_of(hn::Mul(x, number(2)));
  return hn::Div(hn::Sub(e, number(1)), hn::Add(e, number(1)));
}

struct Tanh {
  HWY_INLINE VF32 operator()(VF32 x) const {
    const VF32 p =
        polynomial(hn::Mul(x, x), 0.0157396831f, -0.0523039624f, 0.133152977f, -0.333327681f, 1.0f);
    return hn::IfThenElse(hn::Lt(hn::Abs(x), number(0.55f)), hn::Mul(p, x),
                          tanh_by_exp(at_most(x, 20)));
  }
};

// e^2x - 1 cancels for small x.
struct TanhByExp {
  HWY_INLINE VF32 operator()(VF32 x) const {
    return tanh_by_exp(at_most(at_least(x, -8.8f), 8.8f));
  }
};

// x/(1 + e^-z) for the polynomial z that fits erf.
struct GeluByErf {
  HWY_INLINE VF32 operator()(VF32 x) const {
    const VF32 near = at_most(x, 5.75f);
    const VF32 p =
        polynomial(hn::Mul(near, near), -0.3512339572e-8f, 0.2645266170e-6f, -0.7929488134e-5f,
                   0.1106123840e-3f, 0.6518995814e-4f, -0.7266616915e-1f, -0.1595769883e1f);
    return hn::Div(x, hn::Add(exp_of(hn::Mul(p, near)), number(1)));
  }
};

struct GeluByTanh {
  HWY_INLINE VF32 operator()(VF32 x) const {
    const VF32 cube = hn::Mul(hn::Mul(x, x), x);
    const VF32 u = hn::Add(x, hn::Mul(cube, number(0.044715f)));
    return hn::Div(x, hn::Add(exp_of(hn::Mul(u, number(-1.5957691f))), number(1)));
  }
};

// A parabola in place of tanh: x (sgn(x) (1/2 - 0.1444 (min(|x|/sqrt(2), 1.769) - 1.769)^2) + 1/2).
// The device's reciprocal is approximate; here it is rounded once.
struct GeluByParabola {
  HWY_INLINE VF32 operator()(VF32 x) const {
    const VF32 rest =
        hn::Sub(at_most(hn::Abs(hn::Mul(x, number(0.7071f))), 1.769f), number(1.769f));
    const VF32 parabola = hn::Add(hn::Mul(hn::Mul(rest, rest), number(-0.1444f)), number(0.5f));
    const VF32 moved = hn::Add(x, number(1e-12f));
    const VF32 sign = hn::Mul(moved, hn::Div(number(1), hn::Abs(moved)));
    return hn::Mul(x, hn::Add(hn::Mul(parabola, sign), number(0.5f)));
  }
};

}  // namespace

std::span<const Formula> high_precision() {
  static constexpr Formula kFormulas[] = {{"sigmoid", compute<Sigmoid, 1>},
                                          {"tanh", compute<Tanh, 1>},
                                          {"gelu", compute<GeluByErf, 1>},
                                          {"gelu_tanh", compute<GeluByTanh, 1>}};
  return kFormulas;
}

std::span<const Formula> high_performance() {
  static constexpr Formula kFormulas[] = {{"sigmoid", compute<SigmoidInHalf, 1>},
                                          {"tanh", compute<TanhByExp, 1>},
                                          {"gelu", compute<GeluByErf, 1>},
                                          {"gelu_tanh", compute<GeluByParabola, 1>}};
  return kFormulas;
}

std::span<const Formula> on_910a() {
  static constexpr Formula kFormulas[] = {{"sigmoid", compute<SigmoidOn910a, 1>}};
  return kFormulas;
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(high_precision);
HWY_EXPORT(high_performance);
HWY_EXPORT(on_910a);

Launch prepare_precise(const Problem& problem) {
  return formula_launch(problem, HWY_DYNAMIC_DISPATCH(high_precision)(), true);
}
Launch prepare_fast(const Problem& problem) {
  return formula_launch(problem, HWY_DYNAMIC_DISPATCH(high_performance)(), true);
}
Launch prepare_910a(const Problem& problem) {
  return formula_launch(problem, HWY_DYNAMIC_DISPATCH(on_910a)(), true);
}

bool overflows_half(const Problem&, std::size_t, double x) { return x < -11.08; }

// A 16-bit step is wider than the error, except among the small numbers of bf16.
bool cancels(const Problem& problem, std::size_t, double x) {
  return problem.inputs[0].dtype != DType::fp16 && std::fabs(x) < 0x1p-7;
}

bool is_by_parabola(const Problem& problem, std::size_t, double x) {
  return problem.attrs.word("approximate") == "tanh" && (std::fabs(x) < 5 || std::isinf(x));
}

Kernel in_half(Kernel kernel, KnownLimit limit) {
  kernel.dtypes = {DType::fp16};
  kernel.judged_as = DType::fp16;
  kernel.limit = limit;
  kernel.device_name = "Sigmoid";
  return kernel;
}

Kernel with_limit(Kernel kernel, std::string_view device_name, KnownLimit limit) {
  kernel.device_name = device_name;
  kernel.limit = limit;
  return kernel;
}

const RegisteredKernel kKernels[] = {
    RegisteredKernel(npu_formula(
        "sigmoid", "sigmoid",
        "Sigmoid on 910B at high precision: 1/(1 + e^-x) in fp32, rounded once", prepare_precise)),
    RegisteredKernel(in_half(
        npu_formula("sigmoid", "sigmoid_high_performance",
                    "Sigmoid on 910B at high performance: each step in fp16", prepare_fast),
        {overflows_half, "like the device: 0 for x < -11.09, where e^-x overflows in fp16"})),
    RegisteredKernel(
        in_half(npu_formula("sigmoid", "sigmoid_910a",
                            "Sigmoid on 910A in both modes: each step in fp16, x at least -11.086",
                            prepare_910a),
                {overflows_half, "like the device: as at x = -11.086 for smaller x"})),
    RegisteredKernel(
        npu_formula("tanh", "tanh",
                    "Tanh on 910B at high precision: a polynomial for |x| < 0.55, else "
                    "(e^2x - 1)/(e^2x + 1), in fp32, rounded once",
                    prepare_precise)),
    RegisteredKernel(with_limit(
        npu_formula(
            "tanh", "tanh_high_performance",
            "Tanh on 910B at high performance: (e^2x - 1)/(e^2x + 1) in fp32, |x| at most 8.8",
            prepare_fast),
        "Tanh", {cancels, "like the device: e^2x - 1 cancels for |x| < 2^-7"})),
    RegisteredKernel(
        npu_formula("gelu", "gelu_v2",
                    "GeluV2 at high precision: x/(1 + e^-z), z a polynomial; in fp32, rounded once",
                    prepare_precise)),
    RegisteredKernel(with_limit(
        npu_formula("gelu", "gelu_v2_high_performance",
                    "GeluV2 at high performance: a parabola in place of tanh; by erf as at high "
                    "precision; in fp32, rounded once",
                    prepare_fast),
        "GeluV2",
        {is_by_parabola,
         "like the device: a parabola in place of tanh, up to 0.048 |x| off; NaN for Inf"})),
};

}  // namespace
}  // namespace opbench
#endif  // HWY_ONCE
