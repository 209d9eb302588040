// The update of RMSprop, computed piece by piece in the cache in fp32.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rmsprop.cc"
#include "ops/rmsprop.h"

#include <hwy/foreach_target.h>

#include "kernels/update-inl.h"
#include "kernels/update_pieces.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

struct Decayed {
  double sign, decay;
  HWY_INLINE VF32 operator()(VF32 g, VF32 p) const {
    return hn::Add(hn::Mul(g, set(sign)), hn::Mul(p, set(decay)));
  }
};
struct MeanOfSquares {
  double old_share;
  HWY_INLINE VF32 operator()(VF32 mean, VF32 x) const {
    return Mean{old_share}(mean, hn::Mul(x, x));
  }
};
// The order of ApplyRMSProp.
struct LerpOfSquares {
  double old_share;
  HWY_INLINE VF32 operator()(VF32 mean, VF32 x) const {
    return hn::Add(mean, hn::Mul(hn::Sub(hn::Mul(x, x), mean), set(1 - old_share)));
  }
};
struct Step {
  double rate, eps;
  bool eps_in_root;
  HWY_INLINE VF32 operator()(VF32 g, VF32 v) const {
    const VF32 divisor =
        eps_in_root ? hn::Sqrt(hn::Add(v, set(eps))) : hn::Add(hn::Sqrt(v), set(eps));
    return hn::Div(hn::Mul(g, set(rate)), divisor);
  }
};
struct CenteredStep : Step {
  HWY_INLINE VF32 operator()(VF32 g, VF32 v, VF32 mean) const {
    return Step::operator()(g, hn::Sub(v, hn::Mul(mean, mean)));
  }
};
struct ScaledPlus {
  double scale;
  HWY_INLINE VF32 operator()(VF32 x, VF32 y) const { return hn::Add(hn::Mul(x, set(scale)), y); }
};

}  // namespace

// Works in place on p, g, the squares and, unless null, the buffer and the mean of the gradient; g
// becomes the step. `is_device`: the order of operations of ApplyRMSProp.
void rmsprop_piece(const RmspropAttrs& a, bool is_device, std::size_t count, float* const* values) {
  float *const p = values[0], *const g = values[1], *const v = values[2];
  float *const buffer = values[3], *const mean = values[4];
  if (a.maximizes || a.weight_decay != 0) {
    map_lanes<false>(Decayed{a.maximizes ? -1.0 : 1.0, a.weight_decay}, count, g, g, p);
  }
  if (is_device) {
    map_lanes<false>(LerpOfSquares{a.alpha}, count, v, v, g);
  } else {
    map_lanes<false>(MeanOfSquares{a.alpha}, count, v, v, g);
  }
  const Step step{a.inner, a.eps, a.eps_in_root};
  if (mean != nullptr) {
    map_lanes<false>(Mean{a.alpha}, count, mean, mean, g);
    map_lanes<false>(CenteredStep{step}, count, g, g, v, mean);
  } else {
    map_lanes<false>(step, count, g, g, v);
  }
  if (buffer != nullptr) map_lanes<false>(ScaledPlus{a.momentum}, count, buffer, buffer, g);
  map_lanes<false>(PlusScaled{-a.outer}, count, p, p, buffer != nullptr ? buffer : g);
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(rmsprop_piece);

template <bool kIsDevice>
Launch prepare(const Problem& problem) {
  return update_by_pieces(
      problem, [of = RmspropAttrs(problem.attrs)](std::size_t count, float* const* values) {
        HWY_DYNAMIC_DISPATCH(rmsprop_piece)(of, kIsDevice, count, values);
      });
}

const RegisteredKernel native{{
    .op = "rmsprop",
    .name = "native",
    .provider = Provider::framework,
    .summary = "means, buffer and parameters piece by piece in the cache, in fp32",
    .prepare = prepare<false>,
}};

const RegisteredKernel npu{{
    .op = "rmsprop",
    .name = "apply_rms_prop",
    .provider = Provider::npu,
    .summary = "ApplyRMSProp, ApplyCenteredRMSProp: squares as v += (g^2 - v)(1 - alpha); fp32",
    .dtypes = {DType::fp32},
    .refusal = [](const Problem& problem) -> std::string {
      const Attrs& attrs = problem.attrs;
      if (!attrs.flag("tensorflow")) return "it is the form of TensorFlow";
      if (attrs.number("weight_decay") != 0 || attrs.flag("maximize")) {
        return "the gradient is used as it is there";
      }
      return is_given(problem.inputs, 3) ? "" : "it has a momentum_buffer";
    },
    .prepare = prepare<true>,
    .device_name = "ApplyRMSProp",
}};

}  // namespace
}  // namespace opbench
#endif  // HWY_ONCE
