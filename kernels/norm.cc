// Norms over axes: powers in fp32, their sums joined in fp64.
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/simd/cube.h"
#include "kernels/simd/elementwise.h"
#include "kernels/simd/reduce_view.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr std::int64_t kTile = 512;  // elements that are widened at a time

// The order p in the form of the innermost loops.
template <class Body>
auto visit_order(float p, Body body) {
  if (p == 2) return body([](float x) { return x * x; });
  if (p == 1) return body([](float x) { return std::fabs(x); });
  if (p == 0) return body([](float x) { return x == 0 ? 0.0f : 1.0f; });
  return body([p](float x) { return std::pow(std::fabs(x), p); });
}

float root_of(double sum, float p) {
  if (p == 0 || p == 1) return static_cast<float>(sum);
  return static_cast<float>(p == 2 ? std::sqrt(sum) : std::pow(sum, 1 / double(p)));
}

// Rows are summed separately, or side by side in tiles of columns.
struct Norm {
  DType dtype;
  ReduceView view;
  float p;
  std::vector<double> of_rows;

  explicit Norm(const Problem& problem)
      : dtype(problem.inputs[0].dtype),
        view(problem.inputs[0].shape, reduced_axes("norm", problem.inputs[0].shape, problem.attrs)),
        p(static_cast<float>(problem.attrs.number("p"))) {
    if (problem.inputs[0].elements() == 0) view.width = 0;
    if (view.row_is_reduced)
      of_rows.resize(static_cast<std::size_t>(view.kept_rows * view.reduced_rows * pieces()));
  }

  static constexpr std::int64_t kPiece = 64 * kTile;
  std::int64_t pieces() const { return (view.width + kPiece - 1) / kPiece; }

  std::int64_t row_at(std::int64_t kept, std::int64_t reduced) const {
    return ReduceView::offset(view.kept, kept) + ReduceView::offset(view.reduced, reduced);
  }

  double sum_of(const void* x, std::int64_t first, std::int64_t count) const {
    constexpr std::int64_t kLanes = 16;
    float values[kTile];
    double sum = 0;
    for (std::int64_t done = 0; done < count; done += kTile) {
      const std::int64_t tile = std::min(kTile, count - done);
      load_floats(dtype, at(x, dtype, first + done), tile, values);
      std::fill(values + tile, values + (tile + kLanes - 1) / kLanes * kLanes, 0.0f);
      float lanes[kLanes] = {};
      visit_order(p, [&](auto power) {
        for (std::int64_t i = 0; i < tile; i += kLanes) {
          for (std::int64_t k = 0; k < kLanes; ++k) lanes[k] += power(values[i + k]);
        }
      });
      for (const float lane : lanes) sum += double(lane);
    }
    return sum;
  }

  void store(double sum, void* y, std::int64_t i) const {
    const float root = root_of(sum, p);
    store_floats(dtype, &root, 1, at(y, dtype, i));
  }

  void rows(const KernelArgs& args) {
    parallel_ranges(std::ssize(of_rows), 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t row = i / pieces(), first = i % pieces() * kPiece;
        const std::int64_t from = row_at(row / view.reduced_rows, row % view.reduced_rows) + first;
        of_rows[static_cast<std::size_t>(i)] =
            sum_of(args.inputs[0], from, std::min(kPiece, view.width - first));
      }
    });
    const std::int64_t joined = view.reduced_rows * pieces();
    for (std::int64_t i = 0; i < view.kept_rows; ++i) {
      double sum = 0;
      for (std::int64_t k = 0; k < joined; ++k) {
        sum += of_rows[static_cast<std::size_t>(i * joined + k)];
      }
      store(sum, args.outputs[0], i);
    }
  }

  void columns(const KernelArgs& args) const {
    const std::int64_t tiles = (view.width + kTile - 1) / kTile;
    parallel_ranges(view.kept_rows * tiles, 1, [&](std::int64_t begin, std::int64_t end) {
      float values[kTile];
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t first = i % tiles * kTile;
        const std::int64_t count = std::min(kTile, view.width - first);
        double sums[kTile] = {};
        for (std::int64_t row = 0; row < view.reduced_rows; ++row) {
          load_floats(dtype, at(args.inputs[0], dtype, row_at(i / tiles, row) + first), count,
                      values);
          visit_order(p, [&](auto power) {
            for (std::int64_t k = 0; k < count; ++k) sums[k] += double(power(values[k]));
          });
        }
        for (std::int64_t k = 0; k < count; ++k) {
          store(sums[k], args.outputs[0], i / tiles * view.width + first + k);
        }
      }
    });
  }

  void operator()(const KernelArgs& args) {
    if (view.row_is_reduced) return rows(args);
    columns(args);
  }
};

double slope(double x, double norm, double p) {
  if (p == 0 || norm == 0) return 0;
  if (p == 2) return x / norm;
  const double sign = x == 0 ? 0 : std::copysign(1.0, x);
  return p == 1 ? sign : sign * std::pow(std::fabs(x) / norm, p - 1);
}

Launch prepare_grad(const Problem& problem) {
  const Dims& shape = problem.inputs[1].shape;
  return [dtype = problem.inputs[1].dtype, elements = problem.inputs[1].elements(),
          p = problem.attrs.number("p"), strides = row_major_strides(shape),
          from = strides_in_result(shape, reduced_axes("norm_grad", shape, problem.attrs))](
             const KernelArgs& args) {
    for_each_range(elements, [&](std::int64_t begin, std::int64_t end) {
      float x[kTile];
      for (std::int64_t done = begin; done < end; done += kTile) {
        const std::int64_t count = std::min(kTile, end - done);
        load_floats(dtype, at(args.inputs[1], dtype, done), count, x);
        for (std::int64_t i = 0; i < count; ++i) {
          const std::int64_t place = place_in_result(done + i, strides, from);
          float dy = 0, norm = 0;
          load_floats(dtype, at(args.inputs[0], dtype, place), 1, &dy);
          load_floats(dtype, at(args.inputs[2], dtype, place), 1, &norm);
          x[i] = static_cast<float>(double(dy) * slope(double(x[i]), double(norm), p));
        }
        store_floats(dtype, x, count, at(args.outputs[0], dtype, done));
      }
    });
  };
}

const RegisteredKernel native{{
    .op = "norm",
    .name = "native",
    .provider = Provider::framework,
    .summary = "powers in fp32, sums of tiles joined in fp64, the root rounded once",
    .prepare = [](const Problem& problem) -> Launch { return Norm(problem); },
}};

const RegisteredKernel native_grad{{
    .op = "norm_grad",
    .name = "native",
    .provider = Provider::framework,
    .summary = "element by element in fp64, rounded once",
    .prepare = prepare_grad,
}};

}  // namespace
}  // namespace opbench
