// Cumulative sums along an axis, in fp64 like PyTorch on the CPU, with neighbouring lines side by
// side.
#include <algorithm>
#include <vector>

#include "kernels/kernel.h"
#include "kernels/simd/cube.h"
#include "ops/integers.h"
#include "ops/movement.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr std::int64_t kTile = 256;  // neighbouring lines, or places of one line

struct CumSum {
  DType dtype;
  AxisView view;
  bool is_reverse, is_exclusive;

  explicit CumSum(const Problem& problem)
      : dtype(problem.inputs[0].dtype),
        view(problem.inputs[0].shape,
             axis_of("cumsum", problem.inputs[0].shape, problem.attrs.integer("dim"))),
        is_reverse(problem.attrs.flag("reverse")),
        is_exclusive(problem.attrs.flag("exclusive")) {}

  void add(double& sum, float& value) const {
    const double before = sum;
    sum += double(value);
    value = static_cast<float>(is_exclusive ? before : sum);
  }

  // Contiguous lines in turn: an addition waits for the one before it in its own line only.
  template <std::size_t kLines>
  void contiguous(const KernelArgs& args, std::int64_t first) const {
    float values[kLines][kTile];
    double sums[kLines] = {};
    for (std::int64_t done = 0; done < view.extent; done += kTile) {
      const std::int64_t count = std::min(kTile, view.extent - done);
      const std::int64_t from = first + (is_reverse ? view.extent - done - count : done);
      const auto of_line = [&](std::size_t k) {
        return from + static_cast<std::int64_t>(k) * view.extent;
      };
      for (std::size_t k = 0; k < kLines; ++k) {
        load_floats(dtype, at(args.inputs[0], dtype, of_line(k)), count, values[k]);
      }
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t place = is_reverse ? count - 1 - i : i;
        for (std::size_t k = 0; k < kLines; ++k) add(sums[k], values[k][place]);
      }
      for (std::size_t k = 0; k < kLines; ++k) {
        store_floats(dtype, values[k], count, at(args.outputs[0], dtype, of_line(k)));
      }
    }
  }

  // `width` neighbouring lines.
  void lines(const KernelArgs& args, std::int64_t first, std::int64_t width) const {
    float values[kTile];
    double sums[kTile] = {};
    for (std::int64_t k = 0; k < view.extent; ++k) {
      const std::int64_t row = first + (is_reverse ? view.extent - 1 - k : k) * view.inner;
      load_floats(dtype, at(args.inputs[0], dtype, row), width, values);
      for (std::int64_t i = 0; i < width; ++i) add(sums[i], values[i]);
      store_floats(dtype, values, width, at(args.outputs[0], dtype, row));
    }
  }

  /// Calls body(first, width) for tiles of neighbouring lines.
  template <class Body>
  void for_each_tile(Body body) const {
    const std::int64_t tiles = (view.inner + kTile - 1) / kTile;
    parallel_ranges(view.outer * tiles, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t column = i % tiles * kTile;
        body(i / tiles * view.extent * view.inner + column, std::min(kTile, view.inner - column));
      }
    });
  }

  void operator()(const KernelArgs& args) const {
    if (view.inner != 1) {
      return for_each_tile(
          [&](std::int64_t first, std::int64_t width) { lines(args, first, width); });
    }
    parallel_ranges(view.outer, 1, [&](std::int64_t begin, std::int64_t end) {
      std::int64_t i = begin;
      for (; i + 4 <= end; i += 4) contiguous<4>(args, i * view.extent);
      for (; i < end; ++i) contiguous<1>(args, i * view.extent);
    });
  }
};

/// Integers, as int64.
struct IntegerSums {
  CumSum of;

  template <class T>
  void add(std::int64_t& sum, T x, std::int64_t& y) const {
    const std::int64_t before = sum;
    sum = integer_sum(sum, static_cast<std::int64_t>(x));
    y = of.is_exclusive ? before : sum;
  }

  // `width` neighbouring lines; the sum of a single one stays in a register.
  template <class T>
  void lines(const T* x, std::int64_t* y, std::int64_t width) const {
    const std::int64_t extent = of.view.extent, inner = of.view.inner;
    const auto row = [&](std::int64_t k) { return (of.is_reverse ? extent - 1 - k : k) * inner; };
    if (width == 1) {
      std::int64_t sum = 0;
      for (std::int64_t k = 0; k < extent; ++k) add(sum, x[row(k)], y[row(k)]);
      return;
    }
    std::int64_t sums[kTile] = {};
    for (std::int64_t k = 0; k < extent; ++k) {
      const T* const from = x + row(k);
      std::int64_t* const to = y + row(k);
      for (std::int64_t i = 0; i < width; ++i) add(sums[i], from[i], to[i]);
    }
  }

  void operator()(const KernelArgs& args) const {
    visit_integer(of.dtype, [&]<class T>(T) {
      const T* const x = static_cast<const T*>(args.inputs[0]);
      auto* const y = static_cast<std::int64_t*>(args.outputs[0]);
      of.for_each_tile(
          [&](std::int64_t first, std::int64_t width) { lines(x + first, y + first, width); });
    });
  }
};

Launch prepare(const Problem& problem) {
  const CumSum sums(problem);
  if (is_integer(sums.dtype)) return IntegerSums{sums};
  return sums;
}

const RegisteredKernel native{{
    .op = "cumsum",
    .name = "native",
    .provider = Provider::framework,
    .summary = "line after line in fp64, each sum rounded once; integers in int64",
    .prepare = prepare,
}};

}  // namespace
}  // namespace opbench
