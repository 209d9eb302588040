#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/softmax_lines.cc"
#include "kernels/softmax_lines.h"

#include <hwy/foreach_target.h>

#include <cmath>
#include <vector>

#include "kernels/simd/elementwise.h"
#include "kernels/softmax-inl.h"
#include "tensor/half.h"
#include "tensor/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

// Some neighbouring lines of one dtype.
template <class T>
struct LinesOf {
  const T *x, *dy;  // for the gradient, x is y
  T* y;
  std::int64_t extent, inner;
};

// The memory for exp until the sum is known: y, or a buffer if y is narrower.
inline float* kept(float* y, std::vector<float>&, std::int64_t) { return y; }
template <class T>
float* kept(T*, std::vector<float>& buffer, std::int64_t count) {
  buffer.resize(static_cast<std::size_t>(count));
  return buffer.data();
}

template <class T>
void log_line(const LinesOf<T>& line) {
  const float greatest = greatest_of(line.x, line.extent);
  const float sum = lane_sum(ExpFrom{greatest}, line.extent, line.x);
  map_line(Less{greatest, std::log(sum)}, line.extent, line.y, line.x);
}

template <class T>
void softmax_line(const LinesOf<T>& line, Share share) {
  if (share == Share::logarithm) return log_line(line);
  thread_local std::vector<float> buffer;
  float* e = kept(line.y, buffer, line.extent);
  const float greatest = greatest_of(line.x, line.extent);
  const float sum = exp_and_sum(line.x, line.extent, greatest, e);
  if (share == Share::quotient) return map_line(Quotient{sum}, line.extent, line.y, e);
  map_line(Times{1 / sum}, line.extent, line.y, e);
}

template <class T>
void softmax_grad_line(const LinesOf<T>& line, Share share, bool streams) {
  if (share == Share::logarithm) {
    const float sum = lane_sum(Itself(), line.extent, line.dy);
    return map_line(LessExpTimes{sum}, line.extent, line.y, line.dy, line.x);
  }
  const float sum = lane_sum(Product(), line.extent, line.dy, line.x);
  const LessTimes gradient{sum};
  if (!streams) return map_line(gradient, line.extent, line.y, line.dy, line.x);
  map_row([&](VF32 dy, VF32 y) HWY_ATTR { return gradient(F32(), dy, y); }, true,
          static_cast<std::size_t>(line.extent), line.y, line.dy, line.x);
}

// The greatest of `width` neighbouring lines, at most kSoftmaxTile.
template <class T>
void greatest_beside(const LinesOf<T>& tile, std::int64_t width, float* greatest) {
  std::fill_n(greatest, kSoftmaxTile, -HUGE_VALF);
  for (std::int64_t k = 0; k < tile.extent; ++k) {
    map_line(Greatest(), width, greatest, greatest, tile.x + k * tile.inner);
  }
}

template <class T>
void log_tile(const LinesOf<T>& tile, std::int64_t width) {
  HWY_ALIGN float greatest[kSoftmaxTile], logs[kSoftmaxTile] = {};
  greatest_beside(tile, width, greatest);
  for (std::int64_t k = 0; k < tile.extent; ++k) {
    map_line(PlusExpBeside(), width, logs, logs, tile.x + k * tile.inner, greatest);
  }
  for (std::int64_t i = 0; i < width; ++i) logs[i] = std::log(logs[i]);
  for (std::int64_t k = 0; k < tile.extent; ++k) {
    map_line(LessBoth(), width, tile.y + k * tile.inner, tile.x + k * tile.inner, greatest, logs);
  }
}

template <class T>
void softmax_tile(const LinesOf<T>& tile, std::int64_t width, Share share) {
  if (share == Share::logarithm) return log_tile(tile, width);
  thread_local std::vector<float> buffer;
  float* const e = kept(tile.y, buffer, tile.extent * width);
  const std::int64_t step = std::is_same_v<T, float> ? tile.inner : width;
  HWY_ALIGN float greatest[kSoftmaxTile], sums[kSoftmaxTile] = {};
  greatest_beside(tile, width, greatest);
  for (std::int64_t k = 0; k < tile.extent; ++k) {
    map_line(ExpBeside(), width, e + k * step, tile.x + k * tile.inner, greatest);
    map_line(Plus(), width, sums, sums, e + k * step);
  }
  if (share == Share::product) {
    for (std::int64_t i = 0; i < width; ++i) sums[i] = 1 / sums[i];
  }
  for (std::int64_t k = 0; k < tile.extent; ++k) {
    T* const y = tile.y + k * tile.inner;
    if (share == Share::quotient)
      map_line(QuotientBeside(), width, y, e + k * step, sums);
    else
      map_line(Product(), width, y, e + k * step, sums);
  }
}

template <class T>
void log_grad_tile(const LinesOf<T>& tile, std::int64_t width) {
  HWY_ALIGN float sums[kSoftmaxTile] = {};
  for (std::int64_t k = 0; k < tile.extent; ++k) {
    map_line(Plus(), width, sums, sums, tile.dy + k * tile.inner);
  }
  for (std::int64_t k = 0; k < tile.extent; ++k) {
    map_line(LessExpTimesBeside(), width, tile.y + k * tile.inner, tile.dy + k * tile.inner,
             tile.x + k * tile.inner, sums);
  }
}

template <class T>
void softmax_grad_tile(const LinesOf<T>& tile, std::int64_t width, Share share) {
  if (share == Share::logarithm) return log_grad_tile(tile, width);
  HWY_ALIGN float sums[kSoftmaxTile] = {};
  for (std::int64_t k = 0; k < tile.extent; ++k) {
    map_line(PlusProduct(), width, sums, sums, tile.dy + k * tile.inner, tile.x + k * tile.inner);
  }
  for (std::int64_t k = 0; k < tile.extent; ++k) {
    map_line(LessBesideTimes(), width, tile.y + k * tile.inner, tile.dy + k * tile.inner, sums,
             tile.x + k * tile.inner);
  }
}

// Parts [begin, end) of the lines: whole lines, or tiles of neighbouring lines.
template <bool kGrad, class T>
void run_parts(const SoftmaxLines& of, Share share, std::int64_t begin, std::int64_t end,
               const LinesOf<T>& all) {
  const AxisView& view = of.view;
  const std::int64_t tiles = (view.inner + kSoftmaxTile - 1) / kSoftmaxTile;
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t column = view.inner == 1 ? 0 : i % tiles * kSoftmaxTile;
    const std::int64_t first = i / tiles * view.extent * view.inner + column;
    LinesOf<T> lines = all;
    lines.x += first, lines.y += first;
    if constexpr (kGrad) lines.dy += first;
    const std::int64_t width = std::min(kSoftmaxTile, view.inner - column);
    if constexpr (kGrad) {
      view.inner == 1 ? softmax_grad_line(lines, share, of.streams)
                      : softmax_grad_tile(lines, width, share);
    } else {
      view.inner == 1 ? softmax_line(lines, share) : softmax_tile(lines, width, share);
    }
  }
  if (of.streams) hwy::FlushStream();
}

}  // namespace

void softmax_parts(const SoftmaxLines& lines, Share share, std::int64_t begin, std::int64_t end,
                   const void* x, void* y) {
  visit_arithmetic(lines.dtype, [&](auto tag) {
    using T = decltype(tag);
    run_parts<false, T>(lines, share, begin, end,
                        {static_cast<const T*>(x), nullptr, static_cast<T*>(y), lines.view.extent,
                         lines.view.inner});
  });
}

void softmax_grad_parts(const SoftmaxLines& lines, Share share, std::int64_t begin,
                        std::int64_t end, const void* dy, const void* y, void* dx) {
  visit_arithmetic(lines.dtype, [&](auto tag) {
    using T = decltype(tag);
    run_parts<true, T>(lines, share, begin, end,
                       {static_cast<const T*>(y), static_cast<const T*>(dy), static_cast<T*>(dx),
                        lines.view.extent, lines.view.inner});
  });
}

LineSum sum_of_exp_here(DType dtype, const void* x, std::int64_t count) {
  LineSum result{};
  visit_arithmetic(dtype, [&](auto tag) {
    const auto* line = static_cast<const decltype(tag)*>(x);
    result.greatest = greatest_of(line, count);
    result.sum = lane_sum(ExpFrom{result.greatest}, count, line);
  });
  return result;
}

void log_softmax_here(DType dtype, const void* x, std::int64_t count, const LineSum& of, float* y) {
  visit_arithmetic(dtype, [&](auto tag) {
    map_line(Less{of.greatest, std::log(of.sum)}, count, y, static_cast<const decltype(tag)*>(x));
  });
}

void scaled_softmax_here(DType dtype, const void* x, std::int64_t count, const LineSum& of,
                         Share share, float scale, void* y) {
  visit_arithmetic(dtype, [&](auto tag) {
    using T = decltype(tag);
    const auto* from = static_cast<const T*>(x);
    if (share == Share::quotient) {
      map_line(ExpQuotient{of.greatest, of.sum, scale}, count, static_cast<T*>(y), from);
    } else {
      map_line(ExpProduct{of.greatest, 1 / of.sum, scale}, count, static_cast<T*>(y), from);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(softmax_parts);
HWY_EXPORT(softmax_grad_parts);
HWY_EXPORT(sum_of_exp_here);
HWY_EXPORT(log_softmax_here);
HWY_EXPORT(scaled_softmax_here);

constexpr std::int64_t kGrainElements = 4 * 1024;  // fewer exp do not repay waking a thread

// Calls body(begin, end) over the parts of the lines.
template <class Body>
void for_each_part(const AxisView& view, Body body) {
  if (view.extent == 0) return;
  const std::int64_t lines = view.inner == 1 ? 1 : kSoftmaxTile;
  const std::int64_t parts = view.outer * ((view.inner + lines - 1) / lines);
  const std::int64_t part = view.extent * std::min(lines, std::max<std::int64_t>(1, view.inner));
  parallel_ranges(parts, std::max<std::int64_t>(1, kGrainElements / part), body);
}

}  // namespace

void softmax_lines(const SoftmaxLines& lines, Share share, const void* x, void* y) {
  for_each_part(lines.view, [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(softmax_parts)(lines, share, begin, end, x, y);
  });
}

void softmax_grad_lines(const SoftmaxLines& lines, Share share, const void* dy, const void* y,
                        void* dx) {
  for_each_part(lines.view, [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(softmax_grad_parts)(lines, share, begin, end, dy, y, dx);
  });
}

LineSum sum_of_exp(DType dtype, const void* x, std::int64_t count) {
  return HWY_DYNAMIC_DISPATCH(sum_of_exp_here)(dtype, x, count);
}

void log_softmax_line(DType dtype, const void* x, std::int64_t count, const LineSum& of, float* y) {
  HWY_DYNAMIC_DISPATCH(log_softmax_here)(dtype, x, count, of, y);
}

void scaled_softmax_line(DType dtype, const void* x, std::int64_t count, const LineSum& of,
                         Share share, float scale, void* y) {
  HWY_DYNAMIC_DISPATCH(scaled_softmax_here)(dtype, x, count, of, share, scale, y);
}

}  // namespace opbench
#endif  // HWY_ONCE
