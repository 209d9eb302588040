// The greatest and the least over axes: each row separately, columns side by side.
#include <algorithm>

#include "kernels/simd/cube.h"
#include "kernels/simd/elementwise.h"
#include "kernels/simd/reduce_view.h"
#include "ops/integers.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr std::int64_t kTile = 512;  // elements that are widened at a time

// Only NaN differs from itself; it is kept.
constexpr auto kGreatestOf = []<class T>(T a, T b) { return a != a || a > b ? a : b; };
constexpr auto kLeastOf = []<class T>(T a, T b) { return a != a || a < b ? a : b; };

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

template <auto kBetter, class T>
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

  void row(const KernelArgs& args, std::int64_t kept) const {
    T values[kTile], best{};
    bool is_first = true;
    for (std::int64_t r = 0; r < view.reduced_rows; ++r) {
      for (std::int64_t done = 0; done < view.width; done += kTile) {
        const std::int64_t count = std::min(kTile, view.width - done);
        load(dtype, at(args.inputs[0], dtype, row_at(kept, r) + done), count, values);
        if (is_first) best = values[0];
        is_first = false;
        for (std::int64_t i = 0; i < count; ++i) best = kBetter(values[i], best);
      }
    }
    store(dtype, &best, 1, at(args.outputs[0], dtype, kept));
  }

  void columns(const KernelArgs& args, std::int64_t kept, std::int64_t first) const {
    const std::int64_t count = std::min(kTile, view.width - first);
    T values[kTile], best[kTile];
    for (std::int64_t r = 0; r < view.reduced_rows; ++r) {
      load(dtype, at(args.inputs[0], dtype, row_at(kept, r) + first), count,
           r == 0 ? best : values);
      for (std::int64_t i = 0; r > 0 && i < count; ++i) best[i] = kBetter(values[i], best[i]);
    }
    store(dtype, best, count, at(args.outputs[0], dtype, kept * view.width + first));
  }

  void operator()(const KernelArgs& args) const {
    const std::int64_t tiles = view.row_is_reduced ? 1 : (view.width + kTile - 1) / kTile;
    parallel_ranges(view.kept_rows * tiles, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        if (view.row_is_reduced) {
          row(args, i);
        } else {
          columns(args, i / tiles, i % tiles * kTile);
        }
      }
    });
  }
};

template <auto kBetter>
Launch prepare(const Problem& problem) {
  const DType dtype = problem.inputs[0].dtype;
  if (!is_integer(dtype)) return Extreme<kBetter, float>(problem);
  return visit_integer(dtype, [&]<class T>(T) -> Launch { return Extreme<kBetter, T>(problem); });
}

const RegisteredKernel kKernels[] = {
    RegisteredKernel({.op = "amax",
                      .name = "native",
                      .provider = Provider::framework,
                      .summary = "compared in fp32, which holds every narrower number",
                      .prepare = prepare<kGreatestOf>}),
    RegisteredKernel({.op = "amin",
                      .name = "native",
                      .provider = Provider::framework,
                      .summary = "compared in fp32, which holds every narrower number",
                      .prepare = prepare<kLeastOf>}),
};

}  // namespace
}  // namespace opbench
