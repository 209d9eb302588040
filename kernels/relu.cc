#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/relu.cc"
#include <hwy/foreach_target.h>

#include "kernels/dtypes.h"
#include "kernels/elementwise.h"
#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

struct Relu {
  // Negative numbers become 0; NaN is not less than 0 and stays.
  HWY_INLINE VF32 operator()(VF32 x) const {
    const VF32 zero = hn::Zero(F32());
    return hn::IfThenElse(hn::Lt(x, zero), zero, x);
  }
};

// Compare and select, as on 910B: closed lanes are exactly 0, NaN features pass the gradient.
struct ReluGradSelect {
  HWY_INLINE VF32 operator()(VF32 gradient, VF32 feature) const {
    const VF32 zero = hn::Zero(F32());
    return hn::IfThenElse(hn::Le(feature, zero), zero, gradient);
  }
};

}  // namespace

void relu(DType dtype, bool stream, std::size_t count, const void* x, void* y) {
  visit_arithmetic(dtype, [&](auto tag) {
    using T = decltype(tag);
    map(Relu{}, stream, count, static_cast<T*>(y), static_cast<const T*>(x));
  });
}

void relu_grad(DType dtype, bool stream, std::size_t count, const void* gradients,
               const void* features, void* backprops) {
  visit_arithmetic(dtype, [&](auto tag) {
    using T = decltype(tag);
    map(ReluGradSelect{}, stream, count, static_cast<T*>(backprops),
        static_cast<const T*>(gradients), static_cast<const T*>(features));
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

template <bool kStream>
Launch prepare_grad(const Problem& problem) {
  return elementwise_launch(
      problem, [dtype = problem.inputs[0].dtype,
                stream = kStream && outgrows_cache(problem)](const ElementwisePart& part) {
        HWY_DYNAMIC_DISPATCH(relu_grad)
        (dtype, stream, part.count, part.inputs[0], part.inputs[1], part.output);
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
    .summary = "Relu: one pass, streamed past the cache",
    .prepare = prepare<true>,
}};

const RegisteredKernel native_grad{{
    .op = "relu_grad",
    .name = "native",
    .provider = Provider::framework,
    .summary = "one pass, plain stores",
    .prepare = prepare_grad<false>,
}};

const RegisteredKernel npu_grad{{
    .op = "relu_grad",
    .name = "relu_grad_select",
    .family = "relu",
    .summary = "ReluGrad on 910B: compare and select; one pass, streamed past the cache",
    .prepare = prepare_grad<true>,
}};

}  // namespace
}  // namespace opbench
#endif  // HWY_ONCE
