// Steps of optimisers on vectors of fp32. Included once per target.
// clang-format off
#if defined(OPBENCH_KERNELS_UPDATE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPBENCH_KERNELS_UPDATE_INL_H_
#undef OPBENCH_KERNELS_UPDATE_INL_H_
#else
#define OPBENCH_KERNELS_UPDATE_INL_H_
#endif
// clang-format on

#include "kernels/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

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

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#endif
