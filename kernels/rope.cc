// Rotary position embedding like the device: in fp32, with one rounding of the result. Source: CANN
// RotaryPositionEmbedding and RotaryPositionEmbeddingGrad.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rope.cc"
#include "kernels/rope.h"

#include <hwy/foreach_target.h>

#include <algorithm>
#include <vector>

#include "kernels/kernel.h"
#include "kernels/simd/elementwise.h"
#include "kernels/simd/map_line-inl.h"
#include "kernels/simd/scratch.h"
#include "ops/broadcast.h"
#include "tensor/half.h"
#include "tensor/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

// a*c + b*s
struct Turned {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D, hn::Vec<D> a, hn::Vec<D> b, hn::Vec<D> c,
                                   hn::Vec<D> s) const {
    return hn::Add(hn::Mul(a, c), hn::Mul(b, s));
  }
};

// a*c - b*s
struct TurnedBack {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D, hn::Vec<D> a, hn::Vec<D> b, hn::Vec<D> c,
                                   hn::Vec<D> s) const {
    return hn::Sub(hn::Mul(a, c), hn::Mul(b, s));
  }
};

struct PlusProduct {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D, hn::Vec<D> sum, hn::Vec<D> a, hn::Vec<D> b) const {
    return hn::Add(sum, hn::Mul(a, b));
  }
};

// Memory of a thread for `count` lines of `extent` elements.
float* lines_of(std::int64_t extent, std::int64_t count) {
  thread_local AlignedFloats memory;
  memory.resize(extent * count);
  return memory.data();
}

// kept = p(x), turned = r(x).
void split_pairs(RotaryMode mode, std::int64_t extent, const float* x, float* kept, float* turned) {
  const std::int64_t pairs = extent / 2;
  switch (mode) {
    case RotaryMode::half:
      for (std::int64_t i = 0; i < extent; ++i) kept[i] = x[i];
      for (std::int64_t i = 0; i < pairs; ++i) turned[i] = -x[pairs + i];
      for (std::int64_t i = 0; i < pairs; ++i) turned[pairs + i] = x[i];
      return;
    case RotaryMode::interleave:
      for (std::int64_t i = 0; i < extent; ++i) kept[i] = x[i];
      for (std::int64_t i = 0; i < pairs; ++i) {
        turned[2 * i] = -x[2 * i + 1];
        turned[2 * i + 1] = x[2 * i];
      }
      return;
    case RotaryMode::quarter:
      split_pairs(RotaryMode::half, pairs, x, kept, turned);
      return split_pairs(RotaryMode::half, pairs, x + pairs, kept + pairs, turned + pairs);
    case RotaryMode::interleave_half:
      for (std::int64_t i = 0; i < pairs; ++i) {
        kept[i] = turned[pairs + i] = x[2 * i];
        kept[pairs + i] = x[2 * i + 1];
        turned[i] = -x[2 * i + 1];
      }
  }
}

template <class T>
void rotate(RotaryMode mode, std::int64_t extent, const T* x, const T* cos, const T* sin, T* y) {
  const std::int64_t pairs = extent / 2;
  if (pairs <= 0) return;  // GCC 12 warns of negative sizes otherwise
  if (mode == RotaryMode::half) {
    map_line(TurnedBack(), pairs, y, x, x + pairs, cos, sin);
    map_line(Turned(), pairs, y + pairs, x + pairs, x, cos + pairs, sin + pairs);
  } else if (mode == RotaryMode::quarter) {
    rotate(RotaryMode::half, pairs, x, cos, sin, y);
    rotate(RotaryMode::half, pairs, x + pairs, cos + pairs, sin + pairs, y + pairs);
  } else {
    float* const wide = lines_of(extent, 3);
    float *const kept = wide + extent, *const turned = kept + extent;
    map_line(Itself(), extent, wide, x);
    split_pairs(mode, extent, wide, kept, turned);
    map_line(Turned(), extent, y, kept, turned, cos, sin);
  }
}

// dx from dy: the transposed rotation.
template <class T>
void rotate_back(RotaryMode mode, std::int64_t extent, const T* dy, const T* cos, const T* sin,
                 T* dx) {
  const std::int64_t pairs = extent / 2;
  if (pairs <= 0) return;
  if (mode == RotaryMode::half) {
    map_line(Turned(), pairs, dx, dy, dy + pairs, cos, sin + pairs);
    map_line(TurnedBack(), pairs, dx + pairs, dy + pairs, dy, cos + pairs, sin);
    return;
  }
  if (mode == RotaryMode::quarter) {
    rotate_back(RotaryMode::half, pairs, dy, cos, sin, dx);
    return rotate_back(RotaryMode::half, pairs, dy + pairs, cos + pairs, sin + pairs, dx + pairs);
  }
  float* const wide = lines_of(extent, 3);
  float *const a = wide + extent, *const b = a + extent;
  map_line(Product(), extent, a, dy, cos);
  map_line(Product(), extent, b, dy, sin);
  if (mode == RotaryMode::interleave) {
    for (std::int64_t i = 0; i < extent; i += 2) {
      wide[i] = a[i] + b[i + 1];
      wide[i + 1] = a[i + 1] - b[i];
    }
  } else {
    for (std::int64_t i = 0; i < pairs; ++i) {
      wide[2 * i] = a[i] + b[pairs + i];
      wide[2 * i + 1] = a[pairs + i] - b[i];
    }
  }
  map_line(Itself(), extent, dx, wide);
}

// Adds the lines that share an angle: blocks of lines in fp32, which are added in fp64.
template <class T>
void sum_angles(RotaryMode mode, std::int64_t extent, std::span<const std::int64_t> lines,
                const T* dy, const T* x, T* dcos, T* dsin) {
  constexpr std::size_t kBlock = 64;  // lines that are added in fp32
  thread_local std::vector<double> sums;
  sums.assign(static_cast<std::size_t>(2 * extent), 0.0);
  float* const wide = lines_of(extent, 5);
  float *const kept = wide + extent, *const turned = kept + extent, *const block = turned + extent;
  for (std::size_t first = 0; first < lines.size(); first += kBlock) {
    std::fill_n(block, 2 * extent, 0.0f);
    for (const std::int64_t line : lines.subspan(first, std::min(kBlock, lines.size() - first))) {
      map_line(Itself(), extent, wide, x + line * extent);
      split_pairs(mode, extent, wide, kept, turned);
      map_line(PlusProduct(), extent, block, block, kept, dy + line * extent);
      map_line(PlusProduct(), extent, block + extent, block + extent, turned, dy + line * extent);
    }
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += double(block[i]);
  }
  for (std::int64_t i = 0; i < 2 * extent; ++i) {
    wide[i] = static_cast<float>(sums[static_cast<std::size_t>(i)]);
  }
  map_line(Itself(), extent, dcos, wide);
  map_line(Itself(), extent, dsin, wide + extent);
}

}  // namespace

void rotate_one(const RotaryLine& line) {
  visit_arithmetic(line.dtype, [&](auto tag) {
    using T = decltype(tag);
    rotate(line.mode, line.extent, static_cast<const T*>(line.x), static_cast<const T*>(line.cos),
           static_cast<const T*>(line.sin), static_cast<T*>(line.y));
  });
}

void rotate_one_back(const RotaryLine& line) {
  visit_arithmetic(line.dtype, [&](auto tag) {
    using T = decltype(tag);
    rotate_back(line.mode, line.extent, static_cast<const T*>(line.x),
                static_cast<const T*>(line.cos), static_cast<const T*>(line.sin),
                static_cast<T*>(line.y));
  });
}

void sum_angles_of(const RotaryLine& line, std::span<const std::int64_t> lines, const void* dy,
                   void* dcos, void* dsin) {
  visit_arithmetic(line.dtype, [&](auto tag) {
    using T = decltype(tag);
    sum_angles(line.mode, line.extent, lines, static_cast<const T*>(dy),
               static_cast<const T*>(line.x), static_cast<T*>(dcos), static_cast<T*>(dsin));
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(rotate_one);
HWY_EXPORT(rotate_one_back);
HWY_EXPORT(sum_angles_of);

Launch forward(const Problem& problem) {
  return [of = RotaryLines(problem)](const KernelArgs& args) {
    of.for_each([&](std::int64_t i) { rotate_line(of.line(args, i)); });
  };
}

Launch backward(const Problem& problem) {
  const RotaryLines of(problem);
  return [of, has_x = problem.inputs.size() > 3,
          shared = SharedAngles(of)](const KernelArgs& args) {
    of.for_each([&](std::int64_t i) { HWY_DYNAMIC_DISPATCH(rotate_one_back)(of.line(args, i)); });
    if (!has_x) return;
    parallel_blocks(of.angles, [&](std::int64_t angle) {
      RotaryLine line = of.line(args, 0);
      line.x = args.inputs[3];
      const std::int64_t first = angle * of.extent;
      HWY_DYNAMIC_DISPATCH(sum_angles_of)
      (line, shared.of(angle), args.inputs[0], at(args.outputs[1], of.dtype, first),
       at(args.outputs[2], of.dtype, first));
    });
  };
}

const RegisteredKernel device{{
    .op = "rope",
    .name = "rotary_position_embedding",
    .provider = Provider::npu,
    .summary = "RotaryPositionEmbedding: in fp32, rounded once, line by line",
    .prepare = forward,
}};

const RegisteredKernel device_grad{{
    .op = "rope_grad",
    .name = "rotary_position_embedding_grad",
    .family = "rotary_position_embedding",
    .provider = Provider::npu,
    .summary = "RotaryPositionEmbeddingGrad: each line turned back in fp32, then the sums of the "
               "lines that share an angle",
    .prepare = backward,
}};

}  // namespace

void rotate_line(const RotaryLine& line) { HWY_DYNAMIC_DISPATCH(rotate_one)(line); }

RotaryLines::RotaryLines(const Problem& problem)
    : mode(rotary_mode(problem.attrs)),
      dtype(problem.inputs[0].dtype),
      extent(problem.inputs[0].shape.back()),
      count(extent == 0 ? 0 : problem.inputs[0].elements() / extent),
      angles(extent == 0 ? 0 : problem.inputs[1].elements() / extent),
      view(problem.inputs[1].shape, problem.inputs[0].shape) {}

RotaryLine RotaryLines::line(const KernelArgs& args, std::int64_t i) const {
  return {mode,
          dtype,
          extent,
          at(args.inputs[0], dtype, i * extent),
          at(args.inputs[1], dtype, angle_of(i)),
          at(args.inputs[2], dtype, angle_of(i)),
          at(args.outputs[0], dtype, i * extent)};
}

SharedAngles::SharedAngles(const RotaryLines& lines)
    : lines_(static_cast<std::size_t>(lines.count)),
      first_(static_cast<std::size_t>(lines.angles) + 1) {
  const auto angle_of = [&](std::int64_t i) {
    return static_cast<std::size_t>(lines.angle_of(i) / lines.extent);
  };
  for (std::int64_t i = 0; i < lines.count; ++i) ++first_[angle_of(i) + 1];
  for (std::size_t a = 1; a < first_.size(); ++a) first_[a] += first_[a - 1];
  std::vector<std::size_t> next = first_;
  for (std::int64_t i = 0; i < lines.count; ++i) lines_[next[angle_of(i)]++] = i;
}

}  // namespace opbench
#endif  // HWY_ONCE
