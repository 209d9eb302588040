// Cumulative sums along an axis, in fp64 like PyTorch on the CPU, with neighbouring lines side by
// side.
#include <algorithm>
#include <vector>

#include "kernels/kernel.h"
#include "kernels/simd/cube.h"
#include "ops/movement.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr std::int64_t kTile = 256;  // neighbouring lines, or places of one line

struct CumSum {
  DType dtype;
  AxisView view;
  bool is_reverse;

  explicit CumSum(const Problem& problem)
      : dtype(problem.inputs[0].dtype),
        view(problem.inputs[0].shape,
             axis_of("cumsum", problem.inputs[0].shape, problem.attrs.integer("dim"))),
        is_reverse(problem.attrs.flag("reverse")) {}

  // A contiguous line.
  void line(const KernelArgs& args, std::int64_t first) const {
    float values[kTile];
    double sum = 0;
    for (std::int64_t done = 0; done < view.extent; done += kTile) {
      const std::int64_t count = std::min(kTile, view.extent - done);
      const std::int64_t at_tile = first + (is_reverse ? view.extent - done - count : done);
      load_floats(dtype, at(args.inputs[0], dtype, at_tile), count, values);
      for (std::int64_t i = 0; i < count; ++i) {
        float& value = values[is_reverse ? count - 1 - i : i];
        sum += double(value);
        value = static_cast<float>(sum);
      }
      store_floats(dtype, values, count, at(args.outputs[0], dtype, at_tile));
    }
  }

  // `width` neighbouring lines.
  void lines(const KernelArgs& args, std::int64_t first, std::int64_t width) const {
    float values[kTile];
    double sums[kTile] = {};
    for (std::int64_t k = 0; k < view.extent; ++k) {
      const std::int64_t row = first + (is_reverse ? view.extent - 1 - k : k) * view.inner;
      load_floats(dtype, at(args.inputs[0], dtype, row), width, values);
      for (std::int64_t i = 0; i < width; ++i) {
        sums[i] += double(values[i]);
        values[i] = static_cast<float>(sums[i]);
      }
      store_floats(dtype, values, width, at(args.outputs[0], dtype, row));
    }
  }

  void operator()(const KernelArgs& args) const {
    const std::int64_t tiles = (view.inner + kTile - 1) / kTile;
    parallel_ranges(view.outer * tiles, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t column = i % tiles * kTile;
        const std::int64_t first = i / tiles * view.extent * view.inner + column;
        if (view.inner == 1) {
          line(args, first);
        } else {
          lines(args, first, std::min(kTile, view.inner - column));
        }
      }
    });
  }
};

const RegisteredKernel native{{
    .op = "cumsum",
    .name = "native",
    .provider = Provider::framework,
    .summary = "line after line in fp64, each sum rounded once",
    .prepare = [](const Problem& problem) -> Launch { return CumSum(problem); },
}};

}  // namespace
}  // namespace opbench
