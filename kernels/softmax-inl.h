// Lines of softmax in fp32 lanes: the greatest element, exp of the distances to it and their sum.
// Included once per target.
// clang-format off
#if defined(OPBENCH_KERNELS_SOFTMAX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPBENCH_KERNELS_SOFTMAX_INL_H_
#undef OPBENCH_KERNELS_SOFTMAX_INL_H_
#else
#define OPBENCH_KERNELS_SOFTMAX_INL_H_
#endif
// clang-format on

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Line = hn::CappedTag<float, 16>;

// Lines are padded with -Inf to a multiple of this, whose exp is 0.
inline constexpr std::size_t kLineStep = 16;

HWY_INLINE float greatest_of(const float* x, std::size_t padded) {
  const Line d;
  auto greatest = hn::Set(d, -HUGE_VALF);
  for (std::size_t i = 0; i < padded; i += hn::Lanes(d)) {
    greatest = hn::Max(greatest, hn::LoadU(d, x + i));
  }
  return hn::GetLane(hn::MaxOfLanes(d, greatest));
}

// x becomes exp(x - greatest); returns the sum, 16 lanes for every vector width.
HWY_INLINE float exp_and_sum(float* x, std::size_t padded, float greatest) {
  const Line d;
  const auto least = hn::Set(d, -200.0f);  // exp is 0 long before
  HWY_ALIGN float sums[kLineStep] = {};
  for (std::size_t i = 0; i < padded; i += hn::Lanes(d)) {
    const auto distance = hn::Max(hn::Sub(hn::LoadU(d, x + i), hn::Set(d, greatest)), least);
    const auto e = hn::Exp(d, distance);
    hn::StoreU(e, d, x + i);
    float* lanes = sums + i % kLineStep;
    hn::StoreU(hn::Add(hn::LoadU(d, lanes), e), d, lanes);
  }
  for (std::size_t half_of = kLineStep / 2; half_of > 0; half_of /= 2) {
    for (std::size_t k = 0; k < half_of; ++k) sums[k] += sums[k + half_of];
  }
  return sums[0];
}

HWY_INLINE void scale_line(float* x, std::size_t padded, float factor) {
  const Line d;
  for (std::size_t i = 0; i < padded; i += hn::Lanes(d)) {
    hn::StoreU(hn::Mul(hn::LoadU(d, x + i), hn::Set(d, factor)), d, x + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#endif
