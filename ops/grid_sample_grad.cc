// The gradients of sampled planes: of the planes and of the grid.
#include <fmt/format.h>

#include "ops/elementwise.h"
#include "ops/grid_sample_points.h"
#include "ops/matmul.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "grid_sample_grad";

/// The gradients of an image, or their terms.
class Gradients {
 public:
  Gradients(const SampledPlanes& of, const InputReader& dy)
      : of_(of), dy_(dy.read_all()), dx_(of.input.size()), dgrid_(of.grid.size()) {}

  template <Sum kSum>
  Reference all() && {
    for (std::int64_t i = 0; i < of_.n * of_.points(); ++i) {
      const std::int64_t image = i / of_.points(), place = i % of_.points();
      const GridPoint point = of_.point(image, place);
      if (kSum == Sum::terms && (point.x.is_lost || point.y.is_lost)) {
        lose(image, place, i);
        continue;
      }
      for (std::int64_t channel = 0; channel < of_.c; ++channel) {
        spread<kSum>(image, channel, point, dy_at(image, channel, place));
      }
      if (of_.is_nearest) continue;
      dgrid_[std::size_t(2 * i)] = of_x<kSum>(image, place, point);
      dgrid_[std::size_t(2 * i + 1)] = of_y<kSum>(image, place, point);
    }
    return elements_of({std::move(dx_), std::move(dgrid_)});
  }

 private:
  double dy_at(std::int64_t image, std::int64_t channel, std::int64_t place) const {
    return dy_[std::size_t((image * of_.c + channel) * of_.points() + place)];
  }

  // The point may be anywhere.
  void lose(std::int64_t image, std::int64_t place, std::int64_t i) {
    double of_grid = 0;
    for (std::int64_t channel = 0; channel < of_.c; ++channel) {
      const double lost = std::fabs(dy_at(image, channel, place)) / of_.roundoff;
      const std::int64_t first = (image * of_.c + channel) * of_.plane();
      for (std::int64_t k = 0; k < of_.plane(); ++k) dx_[std::size_t(first + k)] += lost;
      of_grid += lost * of_.plane_of(image, channel).greatest();
    }
    dgrid_[std::size_t(2 * i)] = of_grid * of_.x.scale();
    dgrid_[std::size_t(2 * i + 1)] = of_grid * of_.y.scale();
  }

  void add(std::int64_t image, std::int64_t channel, std::int64_t row, std::int64_t column,
           double value) {
    if (row < 0 || row >= of_.h || column < 0 || column >= of_.w) return;
    dx_[std::size_t((image * of_.c + channel) * of_.plane() + row * of_.w + column)] += value;
  }

  // Adds dy to the four elements around the point. With terms, a rounding error of the position
  // moves dy to the next element.
  template <Sum kSum>
  void spread(std::int64_t image, std::int64_t channel, const GridPoint& point, double dy) {
    const GridCell &x = point.x.exact(), &y = point.y.exact();
    const double value = summand(kSum, dy);
    const auto four = [&](const GridCell& of_x, const GridCell& of_y, double times) {
      add(image, channel, of_y.first, of_x.first, times * (1 - of_y.share) * (1 - of_x.share));
      add(image, channel, of_y.first, of_x.first + 1, times * (1 - of_y.share) * of_x.share);
      add(image, channel, of_y.first + 1, of_x.first, times * of_y.share * (1 - of_x.share));
      add(image, channel, of_y.first + 1, of_x.first + 1, times * of_y.share * of_x.share);
    };
    four(x, y, value);
    if (kSum == Sum::values) return;
    for (const GridCell& other : point.x.all) {
      if (of_.is_nearest && other.first != x.first) four(other, y, value / of_.roundoff);
      if (of_.is_nearest) continue;
      four({other.first, 0, 0}, y, value * point.x.size);
      four({other.first, 1, 0}, y, value * point.x.size);
    }
    for (const GridCell& other : point.y.all) {
      if (of_.is_nearest && other.first != y.first) four(x, other, value / of_.roundoff);
      if (of_.is_nearest) continue;
      four(x, {other.first, 0, 0}, value * point.y.size);
      four(x, {other.first, 1, 0}, value * point.y.size);
    }
  }

  // Calls change(plane, dy) for all channels and adds up the results.
  template <class Change>
  double over_channels(std::int64_t image, std::int64_t place, const Change& change) const {
    double sum = 0;
    for (std::int64_t channel = 0; channel < of_.c; ++channel) {
      sum += change(of_.plane_of(image, channel), dy_at(image, channel, place));
    }
    return sum;
  }

  template <Sum kSum>
  double of_x(std::int64_t image, std::int64_t place, const GridPoint& point) const {
    return along<kSum>(
        image, place, point.x, point.y,
        [](Sum sum, const SampledPlane& plane, const GridCell& x, const GridCell& y) {
          return plane.along_x(sum, x, y);
        },
        [](const SampledPlane& plane, const GridCell& x, const GridCell& y) {
          return plane.across(x, y);
        });
  }

  template <Sum kSum>
  double of_y(std::int64_t image, std::int64_t place, const GridPoint& point) const {
    return along<kSum>(
        image, place, point.y, point.x,
        [](Sum sum, const SampledPlane& plane, const GridCell& y, const GridCell& x) {
          return plane.along_y(sum, x, y);
        },
        [](const SampledPlane& plane, const GridCell& y, const GridCell& x) {
          return plane.across(x, y);
        });
  }

  // The gradient of a coordinate, whose cells are `own`. Its terms are those of the sum, the change
  // by a rounding error of the other coordinate, and the step to another cell.
  template <Sum kSum, class Change, class Across>
  double along(std::int64_t image, std::int64_t place, const GridCells& own, const GridCells& other,
               const Change& change, const Across& across) const {
    const auto gradient = [&](Sum sum, const GridCell& cell) {
      return summand(sum, cell.slope) *
             over_channels(image, place, [&](const SampledPlane& plane, double dy) {
               return summand(sum, dy) * change(sum, plane, cell, other.exact());
             });
    };
    const GridCell& exact = own.exact();
    if (kSum == Sum::values) return gradient(kSum, exact);
    double terms = gradient(Sum::terms, exact), steps = 0, moved = 0;
    for (const GridCell& cell : own.all) {
      steps =
          std::fmax(steps, std::fabs(gradient(Sum::values, cell) - gradient(Sum::values, exact)));
    }
    for (const GridCell& cell : other.all) {
      moved =
          std::fmax(moved, over_channels(image, place, [&](const SampledPlane& plane, double dy) {
                      return std::fabs(dy * across(plane, exact, cell));
                    }));
    }
    return terms + std::fabs(exact.slope) * other.size * moved + steps / of_.roundoff;
  }

  const SampledPlanes& of_;
  std::vector<double> dy_, dx_, dgrid_;
};

template <Sum kSum>
Reference gradients(std::span<const InputReader> inputs, const Attrs& attrs) {
  const SampledPlanes of(kName, inputs[1], inputs[2], attrs);
  return Gradients(of, inputs[0]).all<kSum>();
}

std::vector<TensorDesc> infer_grad(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const GridSample of(kName, inputs[1].shape, inputs[2].shape, attrs);
  const Dims y = {of.n, of.c, of.oh, of.ow};
  if (inputs[0].shape != y) {
    throw Error(fmt::format("{}: 'grad_output' has shape {}; allowed: {}, that of the result",
                            kName, to_string(inputs[0].shape), to_string(y)));
  }
  return {inputs[1], inputs[2]};
}

const RegisteredOp registered_grad{{
    .name = kName,
    .ir_name = "GridSampler2DBackward",
    .summary =
        "dx = dy shared among the four elements around its point, dgrid = dy times the slope",
    .source = "torch.nn.functional.grid_sample backward; CANN GridSampler2DGrad",
    .known_as = {.calls = {{"GridSampler2DBackward, grid_sampler_2d_backward, "
                            "GridSamplerBackward, CudnnGridSamplerBackward, GridSampler2DGrad",
                            "grads/grads_0|grad_output|grad, input|x, grid",
                            "grad_inputs/grad_inputs_0|result0|dx, "
                            "grad_inputs/grad_inputs_1|result1|dgrid",
                            {.attrs = kGridSampleAttrs, .needs = "mode, padding_mode"}}},
                 .profiled = {{"GridSampler2DGrad", "grad, x, grid", "dx, dgrid"}},
                 .torch = "torch.ops.aten.grid_sampler_2d_backward({0}, {1}, {2}, ['bilinear', "
                          "'nearest'].index({mode}), ['zeros', 'border', "
                          "'reflection'].index({padding_mode}), {align_corners}, [True, True])"},
    .inputs = {{"grad_output", "grads/grads_0", {}, unit_data},
               {"input", "input", {}, unit_data},
               {"grid", "grid", {}, grid_data}},
    .outputs = {{"grad_input", "grad_inputs/grad_inputs_0"},
                {"grad_grid", "grad_inputs/grad_inputs_1"}},
    .attrs = grid_sample_attrs(),
    .dtypes = kArithmeticDTypes,
    .formats = {Format::NCHW},
    .infer = infer_grad,
    .reference = gradients<Sum::values>,
    .terms =
        [](std::span<const InputReader> inputs, const Attrs& attrs) {
          return Terms{.magnitude = gradients<Sum::terms>(inputs, attrs)};
        },
    .traffic = grid_sample_traffic<20, 1>,
    .inputs_like =
        [](const Dims& shape, const Attrs& attrs) {
          std::vector<Dims> dims = grid_sample_inputs(shape, attrs);
          dims.insert(dims.begin(), shape);
          return dims;
        },
    .mixing = Mixing::sums,
}};

}  // namespace
}  // namespace opbench
