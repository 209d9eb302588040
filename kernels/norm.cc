// Norms over axes: powers in fp32, their sums joined in fp64.
#include "ops/norm.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/formula.h"
#include "kernels/simd/cube.h"
#include "kernels/simd/elementwise.h"
#include "kernels/simd/reduce_view.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr std::int64_t kTile = 512;  // elements that are widened at a time

// The order in the form of the innermost loops: a term joined with those up to here.
template <class Body>
auto visit_order(const NormOrder& order, Body body) {
  const auto p = static_cast<float>(order.p);
  const auto is_nan = [](float x) { return x != x; };
  if (order.is_max) {
    return body([=](auto most, float x) {
      const float size = std::fabs(x);
      return size > most || is_nan(size) ? size : most;
    });
  }
  if (order.is_min) {
    return body([=](auto least, float x) {
      const float size = std::fabs(x);
      return size < least || is_nan(size) ? size : least;
    });
  }
  if (p == 2) return body([](auto sum, float x) { return sum + x * x; });
  if (p == 1) return body([](auto sum, float x) { return sum + std::fabs(x); });
  if (p == 0) return body([](auto sum, float x) { return sum + (x == 0 ? 0.0f : 1.0f); });
  return body([p](auto sum, float x) { return sum + std::pow(std::fabs(x), p); });
}

// Rows are summed separately, or side by side in tiles of columns.
struct Norm {
  DType dtype;
  ReduceView view;
  NormOrder order;
  float least;
  std::vector<double> of_rows;

  explicit Norm(const Problem& problem)
      : dtype(problem.inputs[0].dtype),
        view(problem.inputs[0].shape, reduced_axes("norm", problem.inputs[0].shape, problem.attrs)),
        order(problem.attrs),
        least(static_cast<float>(problem.attrs.number("epsilon"))) {
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
    float buffer[kTile];
    double sum = order.first();
    for (std::int64_t done = 0; done < count; done += kTile) {
      const std::int64_t tile = std::min(kTile, count - done), whole = tile / kLanes * kLanes;
      const void* const from = at(x, dtype, first + done);
      const float* const values = widened(dtype, from, static_cast<std::size_t>(tile), buffer);
      float lanes[kLanes];
      std::fill_n(lanes, kLanes, static_cast<float>(order.first()));
      visit_order(order, [&](auto join) {
        for (std::int64_t i = 0; i < whole; i += kLanes) {
          for (std::int64_t k = 0; k < kLanes; ++k) lanes[k] = join(lanes[k], values[i + k]);
        }
        for (std::int64_t i = whole; i < tile; ++i) {
          lanes[i - whole] = join(lanes[i - whole], values[i]);
        }
      });
      double joined[kLanes];  // in halves, so that few wait for each other
      std::copy_n(lanes, kLanes, joined);
      for (std::int64_t half_of = kLanes / 2; half_of > 0; half_of /= 2) {
        for (std::int64_t k = 0; k < half_of; ++k) {
          joined[k] = order.joined(joined[k], joined[k + half_of]);
        }
      }
      sum = order.joined(sum, joined[0]);
    }
    return sum;
  }

  void store(double sum, void* y, std::int64_t i) const {
    const auto norm = static_cast<float>(order.is_extreme() ? sum : order.root_of(sum));
    const float result = norm < least ? least : norm;
    store_floats(dtype, &result, 1, at(y, dtype, i));
  }

  // Rows that are separate results and no longer than a piece.
  void whole_rows(const KernelArgs& args) const {
    parallel_ranges(view.kept_rows, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        store(sum_of(args.inputs[0], i * view.width, view.width), args.outputs[0], i);
      }
    });
  }

  void rows(const KernelArgs& args) {
    if (view.reduced_rows == 1 && pieces() == 1) return whole_rows(args);
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
      double sum = order.first();
      for (std::int64_t k = 0; k < joined; ++k) {
        sum = order.joined(sum, of_rows[static_cast<std::size_t>(i * joined + k)]);
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
        double sums[kTile];
        std::fill_n(sums, kTile, order.first());
        for (std::int64_t row = 0; row < view.reduced_rows; ++row) {
          load_floats(dtype, at(args.inputs[0], dtype, row_at(i / tiles, row) + first), count,
                      values);
          visit_order(order, [&](auto join) {
            for (std::int64_t k = 0; k < count; ++k) sums[k] = join(sums[k], values[k]);
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

struct NormGrad {
  DType dtype;
  std::int64_t elements;
  NormOrder order;
  Dims strides, from;
  std::vector<double> equals;  ///< elements that share the derivative of an extreme

  explicit NormGrad(const Problem& problem)
      : dtype(problem.inputs[1].dtype),
        elements(problem.inputs[1].elements()),
        order(problem.attrs),
        strides(row_major_strides(problem.inputs[1].shape)),
        from(strides_in_result(problem.inputs[1].shape,
                               reduced_axes("norm_grad", problem.inputs[1].shape, problem.attrs))),
        equals(static_cast<std::size_t>(problem.inputs[2].elements())) {}

  double number(const void* from_tensor, std::int64_t i) const {
    float value = 0;
    load_floats(dtype, at(from_tensor, dtype, i), 1, &value);
    return double(value);
  }

  void count_equals(const KernelArgs& args) {
    std::fill(equals.begin(), equals.end(), 0.0);
    for (std::int64_t i = 0; i < elements; ++i) {
      const std::int64_t place = place_in_result(i, strides, from);
      const bool is_equal = std::fabs(number(args.inputs[1], i)) == number(args.inputs[2], place);
      equals[static_cast<std::size_t>(place)] += is_equal ? 1 : 0;
    }
  }

  void operator()(const KernelArgs& args) {
    if (order.is_extreme()) count_equals(args);
    for_each_range(elements, [&](std::int64_t begin, std::int64_t end) {
      float x[kTile];
      for (std::int64_t done = begin; done < end; done += kTile) {
        const std::int64_t count = std::min(kTile, end - done);
        load_floats(dtype, at(args.inputs[1], dtype, done), count, x);
        for (std::int64_t i = 0; i < count; ++i) {
          const std::int64_t place = place_in_result(done + i, strides, from);
          const double slope = order.slope(double(x[i]), number(args.inputs[2], place),
                                           equals[static_cast<std::size_t>(place)]);
          x[i] = static_cast<float>(number(args.inputs[0], place) * slope);
        }
        store_floats(dtype, x, count, at(args.outputs[0], dtype, done));
      }
    });
  }
};

const RegisteredKernel native{{
    .op = "norm",
    .name = "native",
    .provider = Provider::framework,
    .summary = "powers in fp32, sums or extremes of tiles joined in fp64, the root rounded once",
    .prepare = [](const Problem& problem) -> Launch { return Norm(problem); },
}};

const RegisteredKernel native_grad{{
    .op = "norm_grad",
    .name = "native",
    .provider = Provider::framework,
    .summary = "element by element in fp64, rounded once",
    .prepare = [](const Problem& problem) -> Launch { return NormGrad(problem); },
}};

}  // namespace
}  // namespace opbench
