// Means of a requested number of windows, which may overlap, and their gradient.
#include <fmt/format.h>

#include <algorithm>

#include "ops/conv2d.h"
#include "ops/elementwise.h"
#include "ops/movement.h"
#include "ops/pool.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "adaptive_avg_pool2d", kGradName = "adaptive_avg_pool2d_grad";

// The number of windows, without their places: those may need more memory than there is.
Pair output_size_of(const TensorDesc& x, const Attrs& attrs) {
  require_planes(kName, "self", x);
  if (x.shape[2] * x.shape[3] != 0) return pair_of(attrs, "output_size");
  throw Error(fmt::format("{}: 'self' of shape {} has empty planes; a mean needs elements", kName,
                          to_string(x.shape)));
}

Pair checked_input_size(const TensorDesc& dy, const Attrs& attrs) {
  require_planes(kGradName, "grad_output", dy);
  const Pair size = input_size_of(dy, attrs, 2);
  if (dy.shape[2] != 0 && dy.shape[3] != 0 && size.h != 0 && size.w != 0) return size;
  throw Error(fmt::format("{}: 'grad_output' of shape {} or input_size {}x{} has empty planes",
                          kGradName, to_string(dy.shape), size.h, size.w));
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Pair size = output_size_of(inputs[0], attrs);
  const Dims& x = inputs[0].shape;
  return {with_shape(inputs[0], {x[0], x[1], size.h, size.w})};
}

std::vector<TensorDesc> infer_grad(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Pair size = checked_input_size(inputs[0], attrs);
  const Dims& dy = inputs[0].shape;
  return {with_shape(inputs[0], {dy[0], dy[1], size.h, size.w})};
}

/// Calls body(place in the plane) for the elements of one window of a grid.
template <class Body>
void for_each_tap(const PoolGrid& grid, std::int64_t window, Body body) {
  const TapRange row = grid.rows[static_cast<std::size_t>(window / std::ssize(grid.columns))];
  const TapRange column = grid.columns[static_cast<std::size_t>(window % std::ssize(grid.columns))];
  for (std::int64_t h = row.first; h < row.last; ++h) {
    for (std::int64_t w = column.first; w < column.last; ++w) {
      body(static_cast<std::size_t>(h * grid.w + w),
           double((row.last - row.first) * (column.last - column.first)));
    }
  }
}

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  return [x = inputs[0], grid = adaptive_grid(inputs[0].desc(), attrs)](
             std::size_t, ElementRange range, std::span<double> to) {
    const std::int64_t elements = grid.h * grid.w;
    std::vector<double> plane(static_cast<std::size_t>(elements));
    for_each_plane(
        range, grid.windows(), [&](std::int64_t index, ElementRange part, std::int64_t at) {
          x.read({index * elements, elements}, plane);
          for (std::int64_t i = 0; i < part.count; ++i) {
            double sum = 0;
            for_each_tap(grid, part.first + i,
                         [&](std::size_t place, double count) { sum += plane[place] / count; });
            to[static_cast<std::size_t>(at + i)] = sum;
          }
        });
  };
}

Reference reference_grad(std::span<const InputReader> inputs, const Attrs& attrs) {
  return [dy = inputs[0], grid = adaptive_grad_grid(inputs[0].desc(), attrs)](
             std::size_t, ElementRange range, std::span<double> to) {
    const std::int64_t elements = grid.h * grid.w, windows = grid.windows();
    std::vector<double> gradients(static_cast<std::size_t>(windows)), sums;
    for_each_plane(range, elements, [&](std::int64_t index, ElementRange part, std::int64_t at) {
      dy.read({index * windows, windows}, gradients);
      sums.assign(static_cast<std::size_t>(elements), 0);
      for (std::int64_t i = 0; i < windows; ++i) {
        for_each_tap(grid, i, [&](std::size_t place, double count) {
          sums[place] += gradients[static_cast<std::size_t>(i)] / count;
        });
      }
      std::copy_n(sums.begin() + part.first, part.count, to.begin() + at);
    });
  };
}

// The work is that of the larger side, the plane; windows overlap by at most one place.
Traffic traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  traffic.operations =
      double(std::max(problem.inputs[0].elements(), problem.outputs[0].elements()));
  return traffic;
}

std::vector<GradientCall> gradient(const Problem& forward) {
  const Dims& x = forward.inputs[0].shape;
  const std::pair<std::string_view, AttrValue> size[] = {
      {"input_size", std::vector<std::int64_t>{x[2], x[3]}}};
  return {{kGradName, {{GradientArg::output_gradient, 0}}, {0}, attrs_with(kGradName, size)}};
}

AttrSpec output_size() {
  return {"output_size", std::vector<std::int64_t>{2}, "[h] or [h,w], the number of windows",
          [](const AttrValue& value) { return pair_problem(value, 1); }};
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "_adaptive_avg_pool2d",
    .summary = "the mean of each of output_size windows, which cover the plane",
    .source = "torch.nn.functional.adaptive_avg_pool2d; CANN AdaptiveAvgPool2d",
    .known_as = {.calls = {{"adaptive_avg_pool2d, _adaptive_avg_pool2d, AdaptiveAvgPool2d",
                            "self|x",
                            "result|out|y",
                            {.attrs = "output_size", .needs = "output_size", .turn = 1}},
                           {"AdaptiveAvgPool2d",
                            "x",
                            "y",
                            {.attrs = "output_size: plane of y", .is_profiled_only = true}}}},
    .inputs = {{"self"}},
    .outputs = {{"result"}},
    .attrs = {output_size()},
    .dtypes = kArithmeticDTypes,
    .formats = {Format::NCHW},
    .infer = infer,
    .reference = reference,
    .traffic = traffic,
    .gradient = gradient,
    .mixing = Mixing::sums,
}};

const RegisteredOp registered_grad{{
    .name = kGradName,
    .ir_name = "AdaptiveAvgPool2DBackward",
    .summary = "dx = the sum of dy/n over the windows of n elements that contain the element",
    .source = "torch.nn.functional.adaptive_avg_pool2d backward; CANN AdaptiveAvgPool2dGrad",
    .known_as = {.calls = {{"AdaptiveAvgPool2DBackward, _adaptive_avg_pool2d_backward",
                            "grads/grads_0|grad_output",
                            "grad_inputs/grad_inputs_0|result",
                            {.attrs = "input_size: plane of self"}},
                           {"AdaptiveAvgPool2dGrad",
                            "input_grad",
                            "output_grad",
                            {.attrs = "input_size: plane of output_grad",
                             .is_profiled_only = true}},
                           {"_adaptive_avg_pool2d_backward",
                            "grad_output",
                            "result",
                            {.attrs = "input_size: plane of self", .is_profiled_only = true}}},
                 .profiled = {{"aten::_adaptive_avg_pool2d_backward", "grad_output, self"}}},
    .inputs = {{"grad_output", "grads/grads_0"}},
    .outputs = {{"grad_input", "grad_inputs/grad_inputs_0"}},
    .attrs = {optional_pair_attr("input_size", "height and width of x; [] is twice those of dy")},
    .dtypes = kArithmeticDTypes,
    .formats = {Format::NCHW},
    .infer = infer_grad,
    .reference = reference_grad,
    .traffic = traffic,
    .mixing = Mixing::sums,
}};

}  // namespace

std::vector<TapRange> adaptive_taps(std::int64_t extent, std::int64_t count) {
  std::vector<TapRange> taps;
  for (std::int64_t i = 0; i < count; ++i) {
    taps.push_back({i * extent / count, ((i + 1) * extent + count - 1) / count});
  }
  return taps;
}

PoolGrid adaptive_grid(const TensorDesc& x, const Attrs& attrs) {
  const Pair size = output_size_of(x, attrs);
  const Dims& shape = x.shape;
  return {shape[0] * shape[1], shape[2], shape[3], adaptive_taps(shape[2], size.h),
          adaptive_taps(shape[3], size.w)};
}

PoolGrid adaptive_grad_grid(const TensorDesc& dy, const Attrs& attrs) {
  const Pair size = checked_input_size(dy, attrs);
  const Dims& shape = dy.shape;
  return {shape[0] * shape[1], size.h, size.w, adaptive_taps(size.h, shape[2]),
          adaptive_taps(size.w, shape[3])};
}

}  // namespace opbench
