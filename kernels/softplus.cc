// The NPU's softplus operators and their gradients. The `native` variant of softplus is in
// kernels/softplus_native.cc.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/softplus.cc"
#include "kernels/softplus.h"

#include <fmt/format.h>
#include <hwy/foreach_target.h>

#include <cmath>

#include "kernels/simd/elementwise.h"
#include "kernels/softplus-inl.h"
#include "tensor/half.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

template <class T>
void softplus_of(SoftplusForm form, SoftplusAttrs p, bool stream, std::size_t count, const T* x,
                 T* y) {
  if (form == SoftplusForm::v1) return map(SoftplusV1<T>{}, stream, count, y, x);
  if (form == SoftplusForm::v2_static) return map(SoftplusV2Static<T>{p}, stream, count, y, x);
  if (p.beta != 1) return map(SoftplusV2<false, T, true>{p}, stream, count, y, x);
  // Only x86's max is known to keep NaN without the select.
  constexpr bool kMaxKeepsNaN = HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3;
  if (kMaxKeepsNaN && p.threshold >= kSoftplusIsLinear) {
    return map(SoftplusV2<true, T, false>{p}, stream, count, y, x);
  }
  map(SoftplusV2<true, T, true>{p}, stream, count, y, x);
}

template <class T>
void softplus_grad_of(SoftplusForm form, SoftplusAttrs p, bool stream, std::size_t count,
                      const T* dy, const T* x, T* dx) {
  if (form == SoftplusForm::v1) return map(SoftplusV1Grad{}, stream, count, dx, dy, x);
  if (form == SoftplusForm::v2_static)
    return map(SoftplusV2GradStatic<T>{p}, stream, count, dx, dy, x);
  if (p.beta == 1) return map(SoftplusV2Grad<true, T>{p}, stream, count, dx, dy, x);
  map(SoftplusV2Grad<false, T>{p}, stream, count, dx, dy, x);
}

}  // namespace

void softplus(SoftplusForm form, DType dtype, SoftplusAttrs attrs, bool stream, std::size_t count,
              const void* x, void* y) {
  visit_arithmetic(dtype, [&](auto tag) {
    using T = decltype(tag);
    softplus_of(form, attrs, stream, count, static_cast<const T*>(x), static_cast<T*>(y));
  });
}

void softplus_grad(SoftplusForm form, DType dtype, SoftplusAttrs attrs, bool stream,
                   std::size_t count, const void* dy, const void* x, void* dx) {
  visit_arithmetic(dtype, [&](auto tag) {
    using T = decltype(tag);
    softplus_grad_of(form, attrs, stream, count, static_cast<const T*>(dy),
                     static_cast<const T*>(x), static_cast<T*>(dx));
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {

SoftplusAttrs softplus_attrs_of(const Problem& problem) {
  return {static_cast<float>(problem.attrs.number("beta")),
          static_cast<float>(problem.attrs.number("threshold"))};
}

std::string refuse_unless_plain_softplus(const Problem& problem) {
  const auto [beta, threshold] = softplus_attrs_of(problem);
  if (beta != 1) return fmt::format("it takes beta = 1 only, found {}", beta);
  if (threshold < kSoftplusIsLinear) {
    return fmt::format("it takes a threshold of {} or more only, found {}", kSoftplusIsLinear,
                       threshold);
  }
  return {};
}

namespace {

HWY_EXPORT(softplus);
HWY_EXPORT(softplus_grad);

template <SoftplusForm kForm>
Launch prepare(const Problem& problem) {
  return elementwise_launch(
      problem, [dtype = problem.inputs[0].dtype, attrs = softplus_attrs_of(problem),
                stream = outgrows_cache(problem)](const ElementwisePart& part) {
        HWY_DYNAMIC_DISPATCH(softplus)
        (kForm, dtype, attrs, stream, part.count, part.inputs[0], part.output);
      });
}

Launch launch_grad(const Problem& problem, SoftplusForm form, bool stream) {
  return elementwise_launch(
      problem, [form, dtype = problem.inputs[0].dtype, attrs = softplus_attrs_of(problem),
                stream](const ElementwisePart& part) {
        HWY_DYNAMIC_DISPATCH(softplus_grad)
        (form, dtype, attrs, stream, part.count, part.inputs[0], part.inputs[1], part.output);
      });
}

template <SoftplusForm kForm>
Launch prepare_grad(const Problem& problem) {
  return launch_grad(problem, kForm, outgrows_cache(problem));
}

// PyTorch also has this as one operator. Composed in fp16, exp would overflow at x = 11, and Inf
// times a slope that rounds to 0 is NaN.
Launch prepare_native_grad(const Problem& problem) {
  return launch_grad(problem, SoftplusForm::v2, false);
}

const RegisteredKernel v2{{
    .op = "softplus",
    .name = "softplus_v2",
    .provider = Provider::npu,
    .summary = "SoftplusV2, dynamic kernel: exact log1p, select; one pass",
    .prepare = prepare<SoftplusForm::v2>,
}};

// The device saturates and does not support Inf and NaN.
const RegisteredKernel v2_static{{
    .op = "softplus",
    .name = "softplus_v2_static",
    .provider = Provider::npu,
    .summary = "SoftplusV2, static kernel: plain log(1+exp), 0/1 masks; inexact below x = -8",
    .prepare = prepare<SoftplusForm::v2_static>,
    .takes = InputRange::finite,
}};

const RegisteredKernel v1{{
    .op = "softplus",
    .name = "softplus",
    .provider = Provider::npu,
    .summary = "Softplus (V1): log(1+e^-p) + p + log(1+e^m) - ln 2; beta 1, no threshold",
    .refusal = refuse_unless_plain_softplus,
    .prepare = prepare<SoftplusForm::v1>,
}};

const RegisteredKernel native_grad{{
    .op = "softplus_grad",
    .name = "native",
    .provider = Provider::framework,
    .summary = "dy*sigmoid(beta*x), select; one pass",
    .prepare = prepare_native_grad,
}};

const RegisteredKernel v2_grad{{
    .op = "softplus_grad",
    .name = "softplus_v2_grad",
    .family = "softplus_v2",
    .provider = Provider::npu,
    .summary = "SoftplusV2Grad, dynamic kernel: dy*sigmoid(beta*x), select; one pass",
    .prepare = prepare_grad<SoftplusForm::v2>,
}};

const RegisteredKernel v2_grad_static{{
    .op = "softplus_grad",
    .name = "softplus_v2_grad_static",
    .family = "softplus_v2_static",
    .provider = Provider::npu,
    .summary = "SoftplusV2Grad, static kernel: dy*e^t/(1+e^t), 0/1 masks",
    .prepare = prepare_grad<SoftplusForm::v2_static>,
    .takes = InputRange::finite,
}};

// e^x is Inf in fp32 from x = 88.7 on, and Inf/Inf is NaN. dy*e^x is Inf earlier if dy is above 1.
bool overflows_v1_grad(const Problem&, std::size_t input, double value) {
  constexpr std::size_t kSelf = 1;
  constexpr double kLargestExponent = 80;  // with a dy of 6000, ln of the largest fp32
  constexpr double kLargeGradient = 1e30;  // Inf from x = 19 on, where the slope is 1
  return input == kSelf ? value > kLargestExponent : std::abs(value) > kLargeGradient;
}

const RegisteredKernel v1_grad{{
    .op = "softplus_grad",
    .name = "softplus_grad",
    .family = "softplus",
    .provider = Provider::npu,
    .summary = "SoftplusGrad (V1): dy*e^x/(1+e^x), NaN for x > 88.7; beta 1, no threshold",
    .refusal = refuse_unless_plain_softplus,
    .prepare = prepare_grad<SoftplusForm::v1>,
    .limit = {overflows_v1_grad, "like the device: NaN for x > 88.7, Inf if dy*e^x is Inf"},
}};

}  // namespace
}  // namespace opbench
#endif  // HWY_ONCE
