// gelu in the form with tanh, on fp32 lanes. Included once per target.
// clang-format off
#if defined(OPBENCH_KERNELS_GELU_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPBENCH_KERNELS_GELU_INL_H_
#undef OPBENCH_KERNELS_GELU_INL_H_
#else
#define OPBENCH_KERNELS_GELU_INL_H_
#endif
// clang-format on

#include <hwy/highway.h>

#include "kernels/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {

inline constexpr float kRootOf8OverPi = 1.5957691216057308f;

// (1 + tanh(u))/2 is the sigmoid of 2u = sqrt(8/pi) (x + 0.044715 x^3).
HWY_INLINE VF32 twice_u(VF32 x) {
  const VF32 cubic = hn::Mul(hn::Mul(x, x), hn::Set(F32(), 0.044715f * kRootOf8OverPi));
  return hn::Mul(x, hn::Add(cubic, hn::Set(F32(), kRootOf8OverPi)));
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#endif
