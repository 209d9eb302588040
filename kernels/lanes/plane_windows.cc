#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/lanes/plane_windows.cc"
#include "kernels/lanes/plane_windows.h"

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

// What a kernel without stride does to a plane: y[i][j] += the sum over its taps of
// factor*x[i + h][j + w], wherever that lies on x.
struct Tap {
  float factor;
  std::int64_t h, w;
};
struct Stencil {
  const Tap* taps;
  std::int64_t count;
  std::int64_t x_rows, x_row, y_rows, y_row;
};

// The columns [begin, end) of y that tap `t` meets.
HWY_INLINE std::int64_t first_column(const Tap& t) { return std::max<std::int64_t>(0, -t.w); }
HWY_INLINE std::int64_t last_column(const Stencil& s, const Tap& t) {
  return std::min(s.y_row, s.x_row - t.w);
}

#if HWY_TARGET == HWY_AVX3

// A vector of y at a time, all taps before it is stored; masked lanes are not accessed.
HWY_INLINE void add_row(const Stencil& s, std::int64_t row, const float* x, float* y) {
  const D d;
  const auto first_lanes = [&](std::int64_t count) HWY_ATTR {
    return hn::FirstN(d, static_cast<std::size_t>(std::clamp<std::int64_t>(count, 0, 16)));
  };
  for (std::int64_t column = 0; column < s.y_row; column += 16) {
    const auto inside = first_lanes(s.y_row - column);
    auto sum = hn::MaskedLoad(inside, d, y + column);
    for (std::int64_t k = 0; k < s.count; ++k) {
      const Tap& t = s.taps[k];
      const std::int64_t from = row + t.h;
      if (from < 0 || from >= s.x_rows) continue;
      const auto met = hn::AndNot(first_lanes(first_column(t) - column),
                                  first_lanes(last_column(s, t) - column));
      const auto* source = reinterpret_cast<const float*>(
          reinterpret_cast<std::uintptr_t>(x) +
          static_cast<std::uintptr_t>((from * s.x_row + column + t.w) * 4));
      // Lanes without an element stay, whatever the factor is.
      const auto next = hn::MulAdd(hn::MaskedLoad(met, d, source), hn::Set(d, t.factor), sum);
      sum = hn::IfThenElse(met, next, sum);
    }
    hn::BlendedStore(sum, inside, d, y + column);
  }
}

#else

HWY_INLINE void add_row(const Stencil& s, std::int64_t row, const float* x, float* y) {
  const D d;
  const auto n = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t k = 0; k < s.count; ++k) {
    const Tap& t = s.taps[k];
    const std::int64_t from = row + t.h;
    if (from < 0 || from >= s.x_rows) continue;
    const float* const source = x + from * s.x_row;
    const std::int64_t end = last_column(s, t);
    std::int64_t i = first_column(t);
    for (; i + n <= end; i += n) {
      const auto value = hn::LoadU(d, source + (i + t.w));
      hn::StoreU(hn::MulAdd(value, hn::Set(d, t.factor), hn::LoadU(d, y + i)), d, y + i);
    }
    for (; i < end; ++i) y[i] += t.factor * source[i + t.w];
  }
}

#endif

void add_stencil(const Stencil& s, const float* x, float* y) {
  for (std::int64_t row = 0; row < s.y_rows; ++row) add_row(s, row, x, y + row * s.y_row);
}

// kSign 1: of the convolution, -1: of its gradient by x.
template <int kSign>
const std::vector<Tap>& taps_of(const Conv2d& conv, const float* factors) {
  thread_local std::vector<Tap> taps;
  const auto& [kernel, stride, padding, dilation] = conv.window;
  taps.clear();
  for (std::int64_t k = 0; k < conv.taps(); ++k) {
    taps.push_back({factors[k], kSign * (k / kernel.w * dilation.h - padding.h),
                    kSign * (k % kernel.w * dilation.w - padding.w)});
  }
  return taps;
}

// Tap after tap where there is a stride.
void correlate_strided(const Conv2d& conv, const float* x, const float* taps, float* y) {
  const Pair &kernel = conv.window.kernel, &stride = conv.window.stride;
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

void spread_strided(const Conv2d& conv, const float* dy, const float* taps, float* dx) {
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

bool has_stride(const Conv2d& conv) { return conv.window.stride.h * conv.window.stride.w != 1; }

// The sum of x[i*step]*y[i], vectors of it in `sums`.
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

// best[i] and place[i] of windows side by side, by one row of one tap: what replaces them.
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

// Window after window, where most taps of a row of them meet nothing.
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

void correlate_here(const Conv2d& conv, const float* x, const float* factors, float* y) {
  if (has_stride(conv)) return correlate_strided(conv, x, factors, y);
  const std::vector<Tap>& taps = taps_of<1>(conv, factors);
  add_stencil({taps.data(), conv.taps(), conv.h, conv.w, conv.oh, conv.ow}, x, y);
}

void spread_here(const Conv2d& conv, const float* dy, const float* factors, float* dx) {
  if (has_stride(conv)) return spread_strided(conv, dy, factors, dx);
  const std::vector<Tap>& taps = taps_of<-1>(conv, factors);
  add_stencil({taps.data(), conv.taps(), conv.oh, conv.ow, conv.h, conv.w}, dy, dx);
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

void correlate_plane(const Conv2d& conv, const float* x, const float* taps, float* y) {
  HWY_DYNAMIC_DISPATCH(correlate_here)(conv, x, taps, y);
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
