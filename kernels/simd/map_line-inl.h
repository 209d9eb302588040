// A line of elements computed from other lines, in fp32 lanes. Included once per target.
// clang-format off
#if defined(OPBENCH_KERNELS_MAP_LINE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPBENCH_KERNELS_MAP_LINE_INL_H_
#undef OPBENCH_KERNELS_MAP_LINE_INL_H_
#else
#define OPBENCH_KERNELS_MAP_LINE_INL_H_
#endif
// clang-format on

#include <hwy/highway.h>

#include <cstring>

#include "kernels/simd/row_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Fewer elements than a vector. Not inline: of a sanitizer build, the arrays of many lines in one
// function take minutes to compile.
template <class F, class T, class... Inputs>
void map_rest(const F& f, std::size_t count, T* y, const Inputs*... x) {
  const SumVector d;
  HWY_ALIGN T last[hn::MaxLanes(d)];
  store_as(f(d, load_first(d, x, count, 0)...), d, last);
  std::memcpy(static_cast<void*>(y), last, count * sizeof(T));
}

// y[i] = f(x[i]...); y may be one of the inputs.
template <class F, class T, class... Inputs>
HWY_INLINE void map_line(const F& f, std::int64_t count, T* y, const Inputs*... x) {
  const SumVector d;
  const auto n = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + n <= count; i += n) store_as(f(d, load_as(d, x + i)...), d, y + i);
  if (i < count) map_rest(f, static_cast<std::size_t>(count - i), y + i, (x + i)...);
}

struct Plus {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D, hn::Vec<D> a, hn::Vec<D> b) const {
    return hn::Add(a, b);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#endif
