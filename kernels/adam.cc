// The update of Adam, computed piece by piece in the cache in fp32: both means, then the
// parameters.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/adam.cc"
#include "ops/adam.h"

#include <hwy/foreach_target.h>

#include <algorithm>
#include <cmath>

#include "kernels/simd/cube.h"
#include "kernels/simd/elementwise.h"
#include "kernels/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

HWY_INLINE VF32 set(double value) { return hn::Set(F32(), static_cast<float>(value)); }

struct PlusScaled {
  double scale;
  HWY_INLINE VF32 operator()(VF32 x, VF32 y) const { return hn::Add(x, hn::Mul(y, set(scale))); }
};
struct Mean {
  double old_share;
  HWY_INLINE VF32 operator()(VF32 mean, VF32 x) const {
    return hn::Add(hn::Mul(mean, set(old_share)), hn::Mul(x, set(1 - old_share)));
  }
};
struct MeanOfSquares {
  double old_share;
  HWY_INLINE VF32 operator()(VF32 mean, VF32 x) const {
    const VF32 square = hn::Mul(hn::Mul(x, set(1 - old_share)), x);
    return hn::Add(hn::Mul(mean, set(old_share)), square);
  }
};
struct Step {
  double rate, root, eps;
  HWY_INLINE VF32 operator()(VF32 p, VF32 m, VF32 v) const {
    const VF32 divisor = hn::Add(hn::Div(hn::Sqrt(v), set(root)), set(eps));
    return hn::Sub(p, hn::Mul(hn::Div(m, divisor), set(rate)));
  }
};

}  // namespace

// Works in place; the contents of the gradient are lost.
void adam_piece(const AdamAttrs& a, std::size_t count, float* p, float* g, float* m, float* v) {
  if (a.weight_decay != 0) {
    if (a.is_decoupled) {
      map_lanes<false>(PlusScaled{-a.lr * a.weight_decay}, count, p, p, p);
    } else {
      map_lanes<false>(PlusScaled{a.weight_decay}, count, g, g, p);
    }
  }
  map_lanes<false>(Mean{a.beta1}, count, m, m, g);
  map_lanes<false>(MeanOfSquares{a.beta2}, count, v, v, g);
  map_lanes<false>(Step{a.lr / a.correction1, std::sqrt(a.correction2), a.eps}, count, p, p, m, v);
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(adam_piece);

Launch prepare(const Problem& problem) {
  return [dtype = problem.inputs[0].dtype, of = AdamAttrs(problem.attrs),
          elements = stored_elements(problem)](const KernelArgs& args) {
    for_each_range(elements, [&](std::int64_t begin, std::int64_t end) {
      constexpr std::int64_t kPiece = 1024;  // elements; four arrays of them stay in the L1 cache
      alignas(64) float values[4][kPiece];
      for (std::int64_t place = begin; place < end; place += kPiece) {
        const std::int64_t count = std::min(kPiece, end - place);
        for (std::size_t i = 0; i < 4; ++i) {
          load_floats(dtype, at(args.inputs[i], dtype, place), count, values[i]);
        }
        HWY_DYNAMIC_DISPATCH(adam_piece)
        (of, static_cast<std::size_t>(count), values[0], values[1], values[2], values[3]);
        constexpr std::size_t kResults[] = {0, 2, 3};
        for (std::size_t i = 0; i < 3; ++i) {
          store_floats(dtype, values[kResults[i]], count, at(args.outputs[i], dtype, place));
        }
      }
    });
  };
}

const RegisteredKernel native{{
    .op = "adam",
    .name = "native",
    .provider = Provider::framework,
    .summary = "both means and the parameters piece by piece in the cache, in fp32",
    .prepare = prepare,
}};

}  // namespace
}  // namespace opbench
#endif  // HWY_ONCE
