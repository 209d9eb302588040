#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/plane_windows.cc"
#include "kernels/simd/plane_windows.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <vector>

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;

// Correlates tap by tap, and only the places where a tap meets an element: a tap may be Inf or NaN.
void correlate_by_taps(const Conv2d& conv, const float* x, const float* taps, float start,
                       float* y) {
  const Pair &kernel = conv.window.kernel, &stride = conv.window.stride;
  std::fill_n(y, conv.oh * conv.ow, start);
  for (std::int64_t k = 0; k < conv.taps(); ++k) {
    const TapRows rows(conv, k / kernel.w, k % kernel.w);
    for (std::int64_t oh = rows.first; oh < rows.last; ++oh) {
      const float* from = x + (oh * stride.h + rows.from_h) * conv.w;
      float* to = y + oh * conv.ow;
      for (std::int64_t ow = rows.begin; ow < rows.end; ++ow) {
        to[ow] += taps[k] * from[ow * stride.w + rows.from_w];
      }
    }
  }
}

// Computes a row of y from a padded plane: all taps of a vector before it is stored. Vectors may
// reach into the next row, which is written later, but not past `end`. kTaps: the number of taps,
// or 0 if it is not a constant.
template <std::int64_t kTaps>
HWY_INLINE void correlate_row(std::int64_t count, const std::int64_t* taps, const float* factors,
                              float start, const float* padded, std::int64_t width, float* y,
                              const float* end) {
  const D d;
  const auto n = static_cast<std::int64_t>(hn::Lanes(d));
  if (kTaps > 0) count = kTaps;
  for (std::int64_t column = 0; column < width; column += n, y += n) {
    auto sum = hn::Set(d, start);
    HWY_UNROLL(9)
    for (std::int64_t k = 0; k < count; ++k) {
      sum = hn::MulAdd(hn::LoadU(d, padded + column + taps[k]), hn::Set(d, factors[k]), sum);
    }
    if (end - y >= n) {
      hn::StoreU(sum, d, y);
      continue;
    }
    alignas(64) float last[16];
    hn::Store(sum, d, last);
    std::copy(last, last + (end - y), y);
  }
}

template <std::int64_t kTaps>
void correlate_rows(const Conv2d& conv, const PaddedPlanes& planes, const float* factors,
                    float start, const float* padded, float* y) {
  const float* const end = y + conv.oh * conv.ow;
  for (std::int64_t row = 0; row < conv.oh; ++row, padded += planes.pitch(), y += conv.ow) {
    correlate_row<kTaps>(conv.taps(), planes.taps().data(), factors, start, padded, conv.ow, y,
                         end);
  }
}

// The sum of x[i*step]*y[i]; its vectors are added in `sums`.
HWY_INLINE float add_products(std::int64_t count, std::int64_t step, const float* x, const float* y,
                              hn::Vec<D>& sums) {
  std::int64_t i = 0;
  if (step == 1) {
    const D d;
    const auto n = static_cast<std::int64_t>(hn::Lanes(d));
    for (; i + n <= count; i += n) {
      sums = hn::MulAdd(hn::LoadU(d, x + i), hn::LoadU(d, y + i), sums);
    }
#if HWY_TARGET == HWY_AVX3
    if (i < count) {
      const auto rest = hn::FirstN(d, static_cast<std::size_t>(count - i));
      sums = hn::MulAdd(hn::MaskedLoad(rest, d, x + i), hn::MaskedLoad(rest, d, y + i), sums);
    }
    return 0;
#endif
  }
  float sum = 0;
  for (; i < count; ++i) sum += x[i * step] * y[i];
  return sum;
}

// Updates best[i] and place[i] of neighbouring windows with one row of one tap.
template <std::int64_t kStep>
HWY_INLINE void replace_by_tap(std::int64_t count, std::int64_t step, std::int32_t first,
                               const float* __restrict x, float* __restrict best,
                               std::int32_t* __restrict place) {
  const std::int64_t by = kStep == 0 ? step : kStep;
  for (std::int64_t i = 0; i < count; ++i) {
    const float value = x[i * by];
    const bool replaces = value > best[i] || value != value;
    best[i] = replaces ? value : best[i];
    place[i] = replaces ? static_cast<std::int32_t>(first + i * by) : place[i];
  }
}

template <std::int64_t kStep>
void max_of_rows(const Pool& pool, const float* x, float* y, std::int64_t* places,
                 std::int32_t* place) {
  const auto& [kernel, stride, padding, dilation] = pool.window;
  const PoolAxis rows = pool.rows(), columns = pool.columns();
  for (std::int64_t oh = 0; oh < pool.oh; ++oh, y += pool.ow, places += pool.ow) {
    const TapRange taps = rows.taps_at(oh);
    for (std::int64_t ow = 0; ow < pool.ow; ++ow) {
      place[ow] = static_cast<std::int32_t>(taps.first * pool.w + columns.taps_at(ow).first);
    }
    std::fill_n(y, pool.ow, -HUGE_VALF);
    for (std::int64_t h = taps.first; h < taps.last; h += dilation.h) {
      for (std::int64_t k = 0; k < kernel.w; ++k) {
        const std::int64_t from = k * dilation.w - padding.w;
        const std::int64_t begin = from >= 0 ? 0 : (stride.w - 1 - from) / stride.w;
        const std::int64_t end =
            pool.w > from ? std::min(pool.ow, (pool.w - 1 - from) / stride.w + 1) : 0;
        if (begin >= end) continue;
        const std::int64_t first = h * pool.w + begin * stride.w + from;
        replace_by_tap<kStep>(end - begin, stride.w, static_cast<std::int32_t>(first), x + first,
                              y + begin, place + begin);
      }
    }
    std::copy_n(place, pool.ow, places);
  }
}

// Computes single windows, if most taps of a row of windows are outside the plane.
void max_of_wide_windows(const Pool& pool, const float* x, float* y, std::int64_t* places) {
  const auto& [kernel, stride, padding, dilation] = pool.window;
  for (std::int64_t i = 0; i < pool.oh * pool.ow; ++i) {
    const TapRange rows = pool.rows().taps_at(i / pool.ow),
                   columns = pool.columns().taps_at(i % pool.ow);
    std::int64_t best = rows.first * pool.w + columns.first;
    for (std::int64_t h = rows.first; h < rows.last; h += dilation.h) {
      for (std::int64_t w = columns.first; w < columns.last; w += dilation.w) {
        const float value = x[h * pool.w + w];
        if (value > x[best] || value != value) best = h * pool.w + w;
      }
    }
    y[i] = x[best];
    places[i] = best;
  }
}

}  // namespace

void correlate_here(const Conv2d& conv, const PaddedPlanes& planes, const float* x,
                    const float* taps, float start, float* y) {
  const auto is_finite = [](float factor) { return std::isfinite(factor); };
  if (!std::all_of(taps, taps + conv.taps(), is_finite)) {
    return correlate_by_taps(conv, x, taps, start, y);  // times padding it is NaN
  }
  thread_local std::vector<float> padded;
  padded.resize(static_cast<std::size_t>(planes.channel() + 16));
  planes.fill(x, 0, padded.data());
  const auto rows = conv.taps() == 9 ? correlate_rows<9> : correlate_rows<0>;
  rows(conv, planes, taps, start, padded.data(), y);
}

void spread_here(const Conv2d& conv, const float* dy, const float* taps, float* dx) {
  const Pair &kernel = conv.window.kernel, &stride = conv.window.stride;
  for (std::int64_t k = 0; k < conv.taps(); ++k) {
    const TapRows rows(conv, k / kernel.w, k % kernel.w);
    for (std::int64_t oh = rows.first; oh < rows.last; ++oh) {
      const float* from = dy + oh * conv.ow;
      float* to = dx + (oh * stride.h + rows.from_h) * conv.w;
      for (std::int64_t ow = rows.begin; ow < rows.end; ++ow) {
        to[ow * stride.w + rows.from_w] += taps[k] * from[ow];
      }
    }
  }
}

void add_taps_here(const Conv2d& conv, const float* dy, const float* x, float* taps) {
  const Pair &kernel = conv.window.kernel, &stride = conv.window.stride;
  for (std::int64_t k = 0; k < conv.taps(); ++k) {
    const TapRows rows(conv, k / kernel.w, k % kernel.w);
    auto sums = hn::Zero(D());
    float sum = 0;
    for (std::int64_t oh = rows.first; oh < rows.last; ++oh) {
      const float* from = x + (oh * stride.h + rows.from_h) * conv.w + rows.from_w;
      sum += add_products(rows.end - rows.begin, stride.w, from + rows.begin * stride.w,
                          dy + oh * conv.ow + rows.begin, sums);
    }
    taps[k] += sum + hn::GetLane(hn::SumOfLanes(D(), sums));
  }
}

void max_here(const Pool& pool, const float* x, float* y, std::int64_t* places) {
  if (pool.window.kernel.w > 2 * pool.w) return max_of_wide_windows(pool, x, y, places);
  thread_local std::vector<std::int32_t> place;
  place.resize(static_cast<std::size_t>(pool.ow));
  if (pool.window.stride.w == 1) return max_of_rows<1>(pool, x, y, places, place.data());
  if (pool.window.stride.w == 2) return max_of_rows<2>(pool, x, y, places, place.data());
  max_of_rows<0>(pool, x, y, places, place.data());
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {

HWY_EXPORT(correlate_here);
HWY_EXPORT(spread_here);
HWY_EXPORT(add_taps_here);
HWY_EXPORT(max_here);

void correlate_plane(const Conv2d& conv, const PaddedPlanes& planes, const float* x,
                     const float* taps, float start, float* y) {
  HWY_DYNAMIC_DISPATCH(correlate_here)(conv, planes, x, taps, start, y);
}
void spread_plane(const Conv2d& conv, const float* dy, const float* taps, float* dx) {
  HWY_DYNAMIC_DISPATCH(spread_here)(conv, dy, taps, dx);
}
void add_taps_of_plane(const Conv2d& conv, const float* dy, const float* x, float* taps) {
  HWY_DYNAMIC_DISPATCH(add_taps_here)(conv, dy, x, taps);
}
void max_of_plane(const Pool& pool, const float* x, float* y, std::int64_t* places) {
  HWY_DYNAMIC_DISPATCH(max_here)(pool, x, y, places);
}

}  // namespace opbench
#endif  // HWY_ONCE
