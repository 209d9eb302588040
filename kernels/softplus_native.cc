// softplus composed of small operators like a framework: every step is a separate pass over memory,
// with a result rounded to the tensor's dtype. The temporary of each step is in the output, the one
// free block of that size that a caching allocator would return.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/softplus_native.cc"
#include <hwy/foreach_target.h>

#include "kernels/simd/elementwise.h"
#include "kernels/softplus-inl.h"
#include "kernels/softplus.h"
#include "tensor/half.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

// One step on a vector: x is the operator's input, temporary the result of the previous step.
template <SoftplusStep kStep>
struct Apply {
  SoftplusAttrs a;

  HWY_INLINE VF32 operator()(VF32 temporary, VF32 x) const {
    const F32 d;
    const VF32 zero = hn::Zero(d);
    const VF32 t = hn::Mul(x, hn::Set(d, a.beta));
    switch (kStep) {
      case SoftplusStep::scale:
        return t;
      case SoftplusStep::abs:
        return hn::Abs(temporary);
      case SoftplusStep::negate:
        return hn::Neg(temporary);
      case SoftplusStep::exp:
        return hn::IfThenElse(hn::Eq(temporary, temporary),
                              hn::Exp(d, hn::Min(temporary, hn::Set(d, 104.0f))), temporary);
      case SoftplusStep::log1p:
        return hn::IfThenElse(hn::Eq(temporary, temporary), hn::Log1p(d, temporary), temporary);
      case SoftplusStep::add_relu:
        return hn::Add(temporary, hn::IfThenElse(hn::Lt(t, zero), zero, t));
      case SoftplusStep::divide:
        return hn::Div(temporary, hn::Set(d, a.beta));
      case SoftplusStep::where:
        return hn::IfThenElse(hn::Gt(t, hn::Set(d, a.threshold)), x, temporary);
    }
    return temporary;
  }
};

template <SoftplusStep kStep, class T>
void pass_of(SoftplusAttrs attrs, std::size_t count, const T* x, T* temporary) {
  map(Apply<kStep>{attrs}, false, count, temporary, temporary, x);
}

template <class T>
void step_of(SoftplusStep step, SoftplusAttrs attrs, std::size_t count, const T* x, T* temporary) {
  using Pass = void (*)(SoftplusAttrs, std::size_t, const T*, T*);
  constexpr Pass kPasses[] = {pass_of<SoftplusStep::scale, T>,  pass_of<SoftplusStep::abs, T>,
                              pass_of<SoftplusStep::negate, T>, pass_of<SoftplusStep::exp, T>,
                              pass_of<SoftplusStep::log1p, T>,  pass_of<SoftplusStep::add_relu, T>,
                              pass_of<SoftplusStep::divide, T>, pass_of<SoftplusStep::where, T>};
  kPasses[static_cast<std::size_t>(step)](attrs, count, x, temporary);
}

}  // namespace

void softplus_step(SoftplusStep step, DType dtype, SoftplusAttrs attrs, std::size_t count,
                   const void* x, void* temporary) {
  visit_arithmetic(dtype, [&](auto tag) {
    using T = decltype(tag);
    step_of(step, attrs, count, static_cast<const T*>(x), static_cast<T*>(temporary));
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(softplus_step);

struct Steps {
  DType dtype;
  SoftplusAttrs attrs;
  std::int64_t elements;

  void operator()(SoftplusStep step, const void* x, void* temporary) const {
    for_each_range(elements, [&](std::int64_t begin, std::int64_t end) {
      HWY_DYNAMIC_DISPATCH(softplus_step)
      (step, dtype, attrs, static_cast<std::size_t>(end - begin), at(x, dtype, begin),
       at(temporary, dtype, begin));
    });
  }
};

Steps steps_of(const Problem& problem) {
  return {problem.inputs[0].dtype, softplus_attrs_of(problem), stored_elements(problem)};
}

// where(beta*x > threshold, x, (max(beta*x, 0) + log1p(exp(-abs(beta*x))))/beta)
Launch prepare(const Problem& problem) {
  return [run = steps_of(problem)](const KernelArgs& args) {
    for (const SoftplusStep step :
         {SoftplusStep::scale, SoftplusStep::abs, SoftplusStep::negate, SoftplusStep::exp,
          SoftplusStep::log1p, SoftplusStep::add_relu, SoftplusStep::divide, SoftplusStep::where}) {
      run(step, args.inputs[0], args.outputs[0]);
    }
  };
}

const RegisteredKernel native{{
    .op = "softplus",
    .name = "native",
    .provider = Provider::framework,
    .summary = "composed of eight operators, a pass over memory each",
    .prepare = prepare,
}};

}  // namespace
}  // namespace opbench
#endif  // HWY_ONCE
