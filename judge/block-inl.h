// What the loops over a block have in common. Included once per target.
// clang-format off
#if defined(OPBENCH_COMPARE_BLOCK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPBENCH_COMPARE_BLOCK_INL_H_
#undef OPBENCH_COMPARE_BLOCK_INL_H_
#else
#define OPBENCH_COMPARE_BLOCK_INL_H_
#endif
// clang-format on

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F64 = hn::ScalableTag<double>;
using VF64 = hn::Vec<F64>;
using F32 = hn::ScalableTag<float>;
using VF32 = hn::Vec<F32>;

HWY_INLINE VF64 doubles(const double* from) { return hn::LoadU(F64(), from); }
HWY_INLINE VF64 doubles(const float* from) {
  return hn::PromoteTo(F64(), hn::LoadU(hn::Rebind<float, F64>(), from));
}

HWY_INLINE VF64 number(double value) { return hn::Set(F64(), value); }

// Calls `step(actual, expected, i)` for every `lanes` elements; the last ones go through arrays
// padded with zeros, so that nothing outside is touched. Returns how many zeros were added.
template <class T, class Step>
HWY_INLINE std::size_t for_each_vector(std::size_t lanes, std::size_t count, const T* actual,
                                       const T* expected, Step step) {
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) step(actual + i, expected + i, i);
  if (i == count) return 0;
  HWY_ALIGN T last_actual[hn::MaxLanes(hn::ScalableTag<T>())] = {};
  HWY_ALIGN T last_expected[hn::MaxLanes(hn::ScalableTag<T>())] = {};
  std::memcpy(last_actual, actual + i, (count - i) * sizeof(T));
  std::memcpy(last_expected, expected + i, (count - i) * sizeof(T));
  step(last_actual, last_expected, i);
  return lanes - (count - i);
}

// Through memory: Highway's emulated minimum of lanes starts at the largest finite number.
template <class D>
HWY_INLINE double smallest_lane(D d, hn::Vec<D> v) {
  HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(D())];
  hn::Store(v, d, lanes);
  return *std::min_element(lanes, lanes + hn::Lanes(d));
}

template <class D>
HWY_INLINE double largest_lane(D d, hn::Vec<D> v) {
  HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(D())];
  hn::Store(v, d, lanes);
  return *std::max_element(lanes, lanes + hn::Lanes(d));
}

// In the order of the lanes, so that a block of a few elements is added as it stands.
HWY_INLINE double sum_of(VF64 v) {
  const F64 d;
  HWY_ALIGN double lanes[hn::MaxLanes(d)];
  hn::Store(v, d, lanes);
  double sum = 0;
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) sum += lanes[i];
  return sum;
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#endif
