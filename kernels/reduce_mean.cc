#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduce_mean.cc"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <vector>

#include "kernels/lanes/dtypes.h"
#include "kernels/lanes/elementwise.h"
#include "kernels/lanes/reduce_view.h"
#include "kernels/lanes/simd-inl.h"
#include "tensor/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

// Lanes of a row's sum, whatever the vector width, so that every instruction set gives the same
// bits.
constexpr std::size_t kLanes = 64;

// sums[i] += scale*x[i]
template <class T>
HWY_INLINE void add_row(const T* x, std::size_t count, float scale, float* sums) {
  const F32 d;
  const std::size_t width = hn::Lanes(d);
  const VF32 factor = hn::Set(d, scale);
  const std::size_t whole = count / width * width;
  for (std::size_t i = 0; i < whole; i += width) {
    hn::StoreU(hn::Add(hn::LoadU(d, sums + i), hn::Mul(load(x + i), factor)), d, sums + i);
  }
  for (std::size_t i = whole; i < count; ++i) sums[i] += float(x[i]) * scale;
}

template <class T>
float sum_row(const T* x, std::size_t count, float scale) {
  HWY_ALIGN float lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) add_row(x + i, kLanes, scale, lanes);
  add_row(x + i, count % kLanes, scale, lanes);
  for (std::size_t half_of = kLanes / 2; half_of > 0; half_of /= 2) {
    for (std::size_t k = 0; k < half_of; ++k) lanes[k] += lanes[k + half_of];
  }
  return lanes[0];
}

}  // namespace

void add_rows(DType dtype, const void* x, std::size_t count, float scale, float* sums) {
  visit_arithmetic(
      dtype, [&](auto tag) { add_row(static_cast<const decltype(tag)*>(x), count, scale, sums); });
}

float sum_rows(DType dtype, const void* x, std::size_t count, float scale) {
  float sum = 0;
  visit_arithmetic(
      dtype, [&](auto tag) { sum = sum_row(static_cast<const decltype(tag)*>(x), count, scale); });
  return sum;
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(add_rows);
HWY_EXPORT(sum_rows);

// What is summed up in fp32 before sums are joined in fp64: about this many elements.
constexpr std::int64_t kBlock = 32768;

// The work cut the same way for every thread count: for each kept row, blocks of reduced rows times
// pieces of a row. Every unit leaves one sum (reduced rows) or a piece of sums (kept ones).
struct ReduceMean {
  DType dtype;
  ReduceView view;
  std::int64_t piece, pieces, block, blocks;
  double n;
  float scale;
  std::vector<float> partial;

  ReduceMean(const Problem& problem, bool scaled_first)
      : dtype(problem.inputs[0].dtype),
        view(problem.inputs[0].shape,
             reduced_axes("reduce_mean", problem.inputs[0].shape, problem.attrs)),
        piece(std::clamp<std::int64_t>(view.width, 1, view.row_is_reduced ? kBlock : 1024)),
        pieces((view.width + piece - 1) / piece),
        // At least 64 rows, so that partial sums stay few beside the elements.
        block(std::max<std::int64_t>(kBlock / piece, view.row_is_reduced ? 1 : 64)),
        blocks((view.reduced_rows + block - 1) / block),
        n(reduced_count("reduce_mean", problem.inputs[0].shape, problem.attrs)),
        scale(scaled_first && n > 0 ? static_cast<float>(1 / n) : 1.0f) {
    const std::int64_t sums = view.row_is_reduced ? pieces : view.width;
    partial.resize(static_cast<std::size_t>(view.kept_rows * blocks * sums));
    if (scaled_first && n > 0) n = 1;
  }

  // Sums of reduced rows [block]'s of one kept row, elements [first, first + count) of each.
  void sum_block(const void* x, std::int64_t kept, std::int64_t b, std::int64_t p) {
    const std::int64_t first = p * piece, count = std::min(piece, view.width - first);
    const std::int64_t base = ReduceView::offset(view.kept, kept) + first;
    const std::int64_t last = std::min((b + 1) * block, view.reduced_rows);
    const auto size = static_cast<std::size_t>(count);
    const std::int64_t unit = kept * blocks + b;
    float* sums =
        partial.data() + (view.row_is_reduced ? unit * pieces + p : unit * view.width + first);
    std::fill_n(sums, view.row_is_reduced ? 1 : count, 0.0f);
    for (std::int64_t row = b * block; row < last; ++row) {
      const void* from = at(x, dtype, base + ReduceView::offset(view.reduced, row));
      if (view.row_is_reduced) {
        *sums += HWY_DYNAMIC_DISPATCH(sum_rows)(dtype, from, size, scale);
      } else {
        HWY_DYNAMIC_DISPATCH(add_rows)(dtype, from, size, scale, sums);
      }
    }
  }

  void operator()(const KernelArgs& args) {
    parallel_ranges(view.kept_rows * blocks * pieces, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        sum_block(args.inputs[0], i / pieces / blocks, i / pieces % blocks, i % pieces);
      }
    });
    // Of one result: `joined` sums, `apart` elements from one to the next.
    const std::int64_t results = view.row_is_reduced ? 1 : view.width;
    const std::int64_t apart = results, joined = blocks * (view.row_is_reduced ? pieces : 1);
    for_each_range(view.kept_rows * results, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const float* sums = partial.data() + i / results * joined * apart + i % results;
        double sum = 0;
        for (std::int64_t k = 0; k < joined; ++k) sum += double(sums[k * apart]);
        sum /= n;
        from_doubles(dtype, &sum, 1, at(args.outputs[0], dtype, i));
      }
    });
  }
};

template <bool kScaledFirst>
Launch prepare(const Problem& problem) {
  return ReduceMean(problem, kScaledFirst);
}

const RegisteredKernel native{{
    .op = "reduce_mean",
    .name = "native",
    .provider = Provider::framework,
    .summary = "sum in fp32, then divided by n",
    .prepare = prepare<false>,
}};

const RegisteredKernel reduce_mean{{
    .op = "reduce_mean",
    .name = "reduce_mean",
    .summary = "ReduceMean: every element times 1/n first, then the sum in fp32",
    .prepare = prepare<true>,
}};

}  // namespace
}  // namespace opbench
#endif  // HWY_ONCE
