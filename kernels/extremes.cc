// The greatest and the least over axes: each row separately, columns side by side.
#include <algorithm>
#include <cmath>

#include "kernels/simd/cube.h"
#include "kernels/simd/elementwise.h"
#include "kernels/simd/reduce_view.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr std::int64_t kTile = 512;  // elements that are widened at a time

float greatest(float a, float b) { return std::isnan(a) || a > b ? a : b; }
float least(float a, float b) { return std::isnan(a) || a < b ? a : b; }

template <auto kBetter>
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
    float values[kTile], best = 0;
    bool is_first = true;
    for (std::int64_t r = 0; r < view.reduced_rows; ++r) {
      for (std::int64_t done = 0; done < view.width; done += kTile) {
        const std::int64_t count = std::min(kTile, view.width - done);
        load_floats(dtype, at(args.inputs[0], dtype, row_at(kept, r) + done), count, values);
        if (is_first) best = values[0];
        is_first = false;
        for (std::int64_t i = 0; i < count; ++i) best = kBetter(values[i], best);
      }
    }
    store_floats(dtype, &best, 1, at(args.outputs[0], dtype, kept));
  }

  void columns(const KernelArgs& args, std::int64_t kept, std::int64_t first) const {
    const std::int64_t count = std::min(kTile, view.width - first);
    float values[kTile], best[kTile];
    for (std::int64_t r = 0; r < view.reduced_rows; ++r) {
      load_floats(dtype, at(args.inputs[0], dtype, row_at(kept, r) + first), count,
                  r == 0 ? best : values);
      for (std::int64_t i = 0; r > 0 && i < count; ++i) best[i] = kBetter(values[i], best[i]);
    }
    store_floats(dtype, best, count, at(args.outputs[0], dtype, kept * view.width + first));
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

const RegisteredKernel kKernels[] = {
    RegisteredKernel(
        {.op = "amax",
         .name = "native",
         .provider = Provider::framework,
         .summary = "compared in fp32, which holds every narrower number",
         .prepare = [](const Problem& problem) -> Launch { return Extreme<greatest>(problem); }}),
    RegisteredKernel(
        {.op = "amin",
         .name = "native",
         .provider = Provider::framework,
         .summary = "compared in fp32, which holds every narrower number",
         .prepare = [](const Problem& problem) -> Launch { return Extreme<least>(problem); }}),
};

}  // namespace
}  // namespace opbench
