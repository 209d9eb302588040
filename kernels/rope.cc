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

// Both halves of a line: y1 = First(x1, x2, cos1, s1), y2 = Second(x2, x1, cos2, s2).
template <bool kStream, class First, class Second, class T>
void turn_halves(std::int64_t pairs, const T* x, const T* cos, const T* s1, const T* s2, T* y) {
  std::int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const auto n = static_cast<std::int64_t>(hn::Lanes(F32()));
  const auto of_first = [&](VF32 a, VF32 b, std::int64_t at) HWY_ATTR {
    return First()(F32(), a, b, load(cos + at), load(s1 + at));
  };
  const auto of_second = [&](VF32 a, VF32 b, std::int64_t at) HWY_ATTR {
    return Second()(F32(), b, a, load(cos + pairs + at), load(s2 + at));
  };
  for (; i + 2 * n <= pairs; i += 2 * n) {
    const VF32 a0 = load(x + i), b0 = load(x + pairs + i);
    const VF32 a1 = load(x + i + n), b1 = load(x + pairs + i + n);
    store_two<kStream>(of_first(a0, b0, i), of_first(a1, b1, i + n), y + i);
    store_two<kStream>(of_second(a0, b0, i), of_second(a1, b1, i + n), y + pairs + i);
  }
#endif
  if (i == pairs) return;
  const T* const other = x + pairs;
  map_line(First(), pairs - i, y + i, x + i, other + i, cos + i, s1 + i);
  map_line(Second(), pairs - i, y + pairs + i, other + i, x + i, cos + pairs + i, s2 + i);
}

template <class First, class Second, class T>
void turn_halves(bool stream, std::int64_t pairs, const T* x, const T* cos, const T* s1,
                 const T* s2, T* y) {
  if (stream && can_stream(y) && can_stream(y + pairs)) {
    return turn_halves<true, First, Second>(pairs, x, cos, s1, s2, y);
  }
  turn_halves<false, First, Second>(pairs, x, cos, s1, s2, y);
}

template <class T>
void rotate(RotaryMode mode, bool stream, std::int64_t extent, const T* x, const T* cos,
            const T* sin, T* y) {
  const std::int64_t pairs = extent / 2;
  if (pairs <= 0) return;  // GCC 12 warns of negative sizes otherwise
  if (mode == RotaryMode::half) {
    turn_halves<TurnedBack, Turned>(stream, pairs, x, cos, sin, sin + pairs, y);
  } else if (mode == RotaryMode::quarter) {
    rotate(RotaryMode::half, stream, pairs, x, cos, sin, y);
    rotate(RotaryMode::half, stream, pairs, x + pairs, cos + pairs, sin + pairs, y + pairs);
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
void rotate_back(RotaryMode mode, bool stream, std::int64_t extent, const T* dy, const T* cos,
                 const T* sin, T* dx) {
  const std::int64_t pairs = extent / 2;
  if (pairs <= 0) return;
  if (mode == RotaryMode::half) {
    return turn_halves<Turned, TurnedBack>(stream, pairs, dy, cos, sin + pairs, sin, dx);
  }
  if (mode == RotaryMode::quarter) {
    rotate_back(RotaryMode::half, stream, pairs, dy, cos, sin, dx);
    return rotate_back(RotaryMode::half, stream, pairs, dy + pairs, cos + pairs, sin + pairs,
                       dx + pairs);
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
    rotate(line.mode, false, line.extent, static_cast<const T*>(line.x),
           static_cast<const T*>(line.cos), static_cast<const T*>(line.sin),
           static_cast<T*>(line.y));
  });
}

void rotate_range(const RotaryLines& of, const KernelArgs& args, bool is_back, bool streams,
                  std::int64_t begin, std::int64_t end) {
  visit_arithmetic(of.dtype, [&](auto tag) {
    using T = decltype(tag);
    const auto turn = is_back ? rotate_back<T> : rotate<T>;
    const auto *const x = static_cast<const T*>(args.inputs[0]),
                      *const cos = static_cast<const T*>(args.inputs[1]),
                      *const sin = static_cast<const T*>(args.inputs[2]);
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t angle = of.angle_of(i), first = i * of.extent;
      turn(of.mode, streams, of.extent, x + first, cos + angle, sin + angle,
           static_cast<T*>(args.outputs[0]) + first);
    }
  });
  if (streams) hwy::FlushStream();
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
HWY_EXPORT(rotate_range);
HWY_EXPORT(sum_angles_of);

// The first output.
void rotate_all(const RotaryLines& of, const KernelArgs& args, bool is_back, bool streams) {
  of.for_each_range([&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(rotate_range)(of, args, is_back, streams, begin, end);
  });
}

Launch forward(const Problem& problem) {
  return [of = RotaryLines(problem), streams = outgrows_cache(problem)](const KernelArgs& args) {
    rotate_all(of, args, false, streams);
  };
}

Launch backward(const Problem& problem) {
  const RotaryLines of(problem);
  return [of, has_x = problem.inputs.size() > 3, streams = outgrows_cache(problem),
          shared = SharedAngles(of)](const KernelArgs& args) {
    rotate_all(of, args, true, streams);
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

}  // namespace opbench
#endif  // HWY_ONCE
