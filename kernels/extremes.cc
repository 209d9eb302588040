// The greatest and the least over axes: each row separately, columns side by side.
#include <algorithm>
#include <numeric>
#include <type_traits>

#include "kernels/simd/cube.h"
#include "kernels/simd/elementwise.h"
#include "kernels/simd/reduce_view.h"
#include "kernels/simd/row_sums.h"
#include "ops/integers.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr std::int64_t kTile = 512;  // elements that are widened at a time

// Only NaN differs from itself; it is kept.
template <bool kGreatest, class T>
T better(T a, T b) {
  return a != a || (kGreatest ? a > b : a < b) ? a : b;
}

// Integers are compared as they are, other numbers as float.
template <class T>
void load(DType dtype, const void* from, std::int64_t count, T* to) {
  if constexpr (std::is_same_v<T, float>) {
    load_floats(dtype, from, count, to);
  } else {
    std::copy_n(static_cast<const T*>(from), count, to);
  }
}
template <class T>
void store(DType dtype, const T* from, std::int64_t count, void* to) {
  if constexpr (std::is_same_v<T, float>) {
    store_floats(dtype, from, count, to);
  } else {
    std::copy_n(from, count, static_cast<T*>(to));
  }
}

template <bool kGreatest, class T>
struct Extreme {
  DType dtype;
  ReduceView view;

  explicit Extreme(const Problem& problem)
      : dtype(problem.inputs[0].dtype),
        view(problem.inputs[0].shape,
             reduced_axes(problem.op->name, problem.inputs[0].shape, problem.attrs)) {
    if (problem.outputs[0].elements() == 0) view.kept_rows = 0;
  }

  std::int64_t row_at(std::int64_t kept, std::int64_t reduced) const {
    return ReduceView::offset(view.kept, kept) + ReduceView::offset(view.reduced, reduced);
  }

  // The extremes of `count` contiguous rows from `first` on.
  void of_rows(const KernelArgs& args, std::int64_t first, std::int64_t count, T* best) const {
    const void* const from = at(args.inputs[0], dtype, first);
    if constexpr (std::is_same_v<T, float>) {
      extreme_rows({dtype, from, count, view.width, view.width}, kGreatest, best);
    } else {
      const T* x = static_cast<const T*>(from);
      for (std::int64_t r = 0; r < count; ++r, x += view.width) {
        best[r] = std::accumulate(x, x + view.width, x[0], better<kGreatest, T>);
      }
    }
  }

  // Rows that are separate results, or the reduced rows of each result.
  void rows(const KernelArgs& args, std::int64_t begin, std::int64_t end) const {
    T best[kTile];
    const std::int64_t together = view.reduced_rows == 1 ? kTile : 1;
    for (std::int64_t i = begin, count = 0; i < end; i += count) {
      count = std::min(together, end - i);
      of_rows(args, row_at(i, 0), count, best);
      for (std::int64_t r = 1; r < view.reduced_rows; ++r) {
        T next{};
        of_rows(args, row_at(i, r), 1, &next);
        best[0] = better<kGreatest>(next, best[0]);
      }
      store(dtype, best, count, at(args.outputs[0], dtype, i));
    }
  }

  void columns(const KernelArgs& args, std::int64_t kept, std::int64_t first) const {
    const std::int64_t count = std::min(kTile, view.width - first);
    T values[kTile], best[kTile];
    for (std::int64_t r = 0; r < view.reduced_rows; ++r) {
      load(dtype, at(args.inputs[0], dtype, row_at(kept, r) + first), count,
           r == 0 ? best : values);
      for (std::int64_t i = 0; r > 0 && i < count; ++i)
        best[i] = better<kGreatest>(values[i], best[i]);
    }
    store(dtype, best, count, at(args.outputs[0], dtype, kept * view.width + first));
  }

  void operator()(const KernelArgs& args) const {
    const std::int64_t tiles = view.row_is_reduced ? 1 : (view.width + kTile - 1) / kTile;
    parallel_ranges(view.kept_rows * tiles, 1, [&](std::int64_t begin, std::int64_t end) {
      if (view.row_is_reduced) return rows(args, begin, end);
      for (std::int64_t i = begin; i < end; ++i) columns(args, i / tiles, i % tiles * kTile);
    });
  }
};

template <bool kGreatest>
Launch prepare(const Problem& problem) {
  const DType dtype = problem.inputs[0].dtype;
  if (!is_integer(dtype)) return Extreme<kGreatest, float>(problem);
  return visit_integer(dtype, [&]<class T>(T) -> Launch { return Extreme<kGreatest, T>(problem); });
}

const RegisteredKernel kKernels[] = {
    RegisteredKernel({.op = "amax",
                      .name = "native",
                      .provider = Provider::framework,
                      .summary = "compared in fp32, which holds every narrower number",
                      .prepare = prepare<true>}),
    RegisteredKernel({.op = "amin",
                      .name = "native",
                      .provider = Provider::framework,
                      .summary = "compared in fp32, which holds every narrower number",
                      .prepare = prepare<false>}),
};

}  // namespace
}  // namespace opbench
