#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/relu.cc"
#include <hwy/foreach_target.h>

#include <type_traits>

#include "kernels/simd/elementwise.h"
#include "kernels/simd/simd-inl.h"
#include "tensor/half.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

struct Relu {
  // Negative numbers become 0. NaN is not less than 0 and stays.
  HWY_INLINE VF32 operator()(VF32 x) const {
    const VF32 zero = hn::Zero(F32());
    return hn::IfThenElse(hn::Lt(x, zero), zero, x);
  }
};

// Compare and select, as on 910B: unselected lanes are exactly 0, NaN features pass the gradient.
struct ReluGradSelect {
  HWY_INLINE VF32 operator()(VF32 gradient, VF32 feature) const {
    const VF32 zero = hn::Zero(F32());
    return hn::IfThenElse(hn::Le(feature, zero), zero, gradient);
  }
};

// The form without compare-select, as on 910A. The mask is 1 if the feature reaches the smallest
// number `tiny`, 0 if it is not positive, and a fraction between them. The product with the mask is
// NaN for an infinite gradient and a 0. Source: CANN relu_grad.py. All factors are powers of two
// and the mask is exact in fp32, so fp16 needs no separate lanes.
template <class T>
struct ReluGradMask {
  HWY_INLINE VF32 operator()(VF32 gradient, VF32 feature) const {
    const F32 d;
    constexpr bool kIsHalf = std::is_same_v<T, half>;  // bf16 is also computed in fp32 on the
                                                       // device
    const VF32 tiny = hn::Set(d, kIsHalf ? 0x1p-24f : 0x1p-126f);
    const VF32 positive = hn::Max(hn::Min(feature, tiny), hn::Zero(d));
    const VF32 big = hn::Set(d, kIsHalf ? 0x1p12f : 0x1p44f);
    VF32 mask = hn::Mul(hn::Mul(positive, big), big);
    if constexpr (!kIsHalf) mask = hn::Mul(mask, hn::Set(d, 0x1p38f));
    return hn::Mul(gradient, mask);
  }
};

}  // namespace

void relu(DType dtype, bool stream, std::size_t count, const void* x, void* y) {
  visit_arithmetic(dtype, [&](auto tag) {
    using T = decltype(tag);
    map(Relu{}, stream, count, static_cast<T*>(y), static_cast<const T*>(x));
  });
}

void relu_grad(bool select, DType dtype, bool stream, std::size_t count, const void* gradients,
               const void* features, void* backprops) {
  visit_arithmetic(dtype, [&](auto tag) {
    using T = decltype(tag);
    const auto run = [&](auto formula) {
      map(formula, stream, count, static_cast<T*>(backprops), static_cast<const T*>(gradients),
          static_cast<const T*>(features));
    };
    if (select) return run(ReluGradSelect{});
    run(ReluGradMask<T>{});
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(relu);
HWY_EXPORT(relu_grad);

template <bool kStream>
Launch prepare(const Problem& problem) {
  return elementwise_launch(
      problem, [dtype = problem.inputs[0].dtype,
                stream = kStream && outgrows_cache(problem)](const ElementwisePart& part) {
        HWY_DYNAMIC_DISPATCH(relu)(dtype, stream, part.count, part.inputs[0], part.output);
      });
}

template <bool kSelect, bool kStream>
Launch prepare_grad(const Problem& problem) {
  return elementwise_launch(
      problem, [dtype = problem.inputs[0].dtype,
                stream = kStream && outgrows_cache(problem)](const ElementwisePart& part) {
        HWY_DYNAMIC_DISPATCH(relu_grad)
        (kSelect, dtype, stream, part.count, part.inputs[0], part.inputs[1], part.output);
      });
}

const RegisteredKernel native{{
    .op = "relu",
    .name = "native",
    .provider = Provider::framework,
    .summary = "one pass, plain stores",
    .prepare = prepare<false>,
}};

const RegisteredKernel npu{{
    .op = "relu",
    .name = "relu",
    .provider = Provider::npu,
    .summary = "Relu: one pass, streamed past the cache",
    .prepare = prepare<true>,
}};

const RegisteredKernel native_grad{{
    .op = "relu_grad",
    .name = "native",
    .provider = Provider::framework,
    .summary = "one pass, plain stores",
    .prepare = prepare_grad<true, false>,
}};

const RegisteredKernel npu_grad{{
    .op = "relu_grad",
    .name = "relu_grad_select",
    .family = "relu",
    .provider = Provider::npu,
    .summary = "ReluGrad on 910B: compare and select; one pass, streamed past the cache",
    .prepare = prepare_grad<true, true>,
}};

// The device does not support Inf and NaN, and its mask is a fraction for subnormal features.
const RegisteredKernel npu_grad_mask{{
    .op = "relu_grad",
    .name = "relu_grad",
    .provider = Provider::npu,
    .summary = "ReluGrad on 910A: gradients * max(min(x, tiny), 0) * big * big; one pass",
    .prepare = prepare_grad<false, true>,
    .takes = InputRange::normal,
}};

}  // namespace
}  // namespace opbench
#endif  // HWY_ONCE
