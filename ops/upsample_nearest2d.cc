// Planes resized by the nearest element, and the gradient that sums the copies.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/conv2d.h"
#include "ops/elementwise.h"
#include "ops/movement.h"
#include "ops/pool.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "upsample_nearest2d", kGradName = "upsample_nearest2d_grad";

// The default is twice the height and width.
Pair output_size_of(const TensorDesc& x, const Attrs& attrs) {
  require_planes(kName, "self", x);
  if (!attrs.list("output_size").empty()) return pair_of(attrs, "output_size");
  return {2 * x.shape[2], 2 * x.shape[3]};
}

Pair input_size_checked(const TensorDesc& dy, const Attrs& attrs) {
  require_planes(kGradName, "grad_output", dy);
  if (!attrs.list("input_size").empty()) return pair_of(attrs, "input_size");
  return {(dy.shape[2] + 1) / 2, (dy.shape[3] + 1) / 2};
}

void require_elements(std::string_view op, std::int64_t from, std::int64_t to) {
  if (from > 0 || to == 0) return;
  throw Error(
      fmt::format("{}: an axis of 0 places becomes {} long; allowed: at least 1 place", op, to));
}

// floor(place*scale) in fp32 like ATen; scale is the quotient of the extents, or the given one.
// (PyTorch 1.13 is inconsistent if a given scale differs from the quotient of the extents, 1 or 2:
// for one channel, for channels_last and in the gradient its CPU code uses the extents.)
std::vector<std::int64_t> places_of(std::int64_t from, std::int64_t to, double scale_factor) {
  const float scale = scale_factor > 0 ? static_cast<float>(1 / scale_factor)
                                       : static_cast<float>(from) / static_cast<float>(to);
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < to; ++i) {
    const float place = std::floor(static_cast<float>(i) * scale);
    // A place beyond the end, or NaN (0 times infinity), becomes the last place.
    const bool is_inside = place < static_cast<float>(from);
    places.push_back(is_inside ? std::min(static_cast<std::int64_t>(place), from - 1) : from - 1);
  }
  return places;
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Pair size = output_size_of(inputs[0], attrs);
  const Dims& x = inputs[0].shape;
  require_elements(kName, x[2], size.h);
  require_elements(kName, x[3], size.w);
  return {with_shape(inputs[0], {x[0], x[1], size.h, size.w})};
}

std::vector<TensorDesc> infer_grad(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Pair size = input_size_checked(inputs[0], attrs);
  const Dims& dy = inputs[0].shape;
  require_elements(kGradName, size.h, dy[2]);
  require_elements(kGradName, size.w, dy[3]);
  return {with_shape(inputs[0], {dy[0], dy[1], size.h, size.w})};
}

ExactReference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const NearestPlaces of = nearest_places(inputs[0].desc(), attrs);
  return moved(inputs, [of](std::size_t, std::int64_t element) -> SourceRun {
    const std::int64_t row = element / std::ssize(of.columns);
    const auto column = static_cast<std::size_t>(element % std::ssize(of.columns));
    const std::int64_t plane = row / std::ssize(of.rows);
    const std::int64_t from = of.rows[static_cast<std::size_t>(row % std::ssize(of.rows))];
    return {0, (plane * of.h + from) * of.w + of.columns[column], 1};
  });
}

Reference reference_grad(std::span<const InputReader> inputs, const Attrs& attrs) {
  return [dy = inputs[0], of = nearest_grad_places(inputs[0].desc(), attrs)](
             std::size_t, ElementRange range, std::span<double> to) {
    const std::size_t width = of.columns.size(), elements = of.rows.size() * width;
    std::vector<double> copies(elements), sums;
    for_each_plane(range, of.h * of.w, [&](std::int64_t index, ElementRange part, std::int64_t at) {
      const auto count = static_cast<std::int64_t>(elements);
      dy.read({index * count, count}, copies);
      sums.assign(static_cast<std::size_t>(of.h * of.w), 0);
      for (std::size_t i = 0; i < elements; ++i) {
        const std::int64_t place = of.rows[i / width] * of.w + of.columns[i % width];
        sums[static_cast<std::size_t>(place)] += copies[i];
      }
      std::copy_n(sums.begin() + part.first, part.count, to.begin() + at);
    });
  };
}

std::vector<GradientCall> gradient(const Problem& forward) {
  const Dims& x = forward.inputs[0].shape;
  const std::pair<std::string_view, AttrValue> attrs[] = {
      {"input_size", std::vector<std::int64_t>{x[2], x[3]}},
      {"scale_h", forward.attrs.number("scale_h")},
      {"scale_w", forward.attrs.number("scale_w")}};
  return {{kGradName, {{GradientArg::output_gradient, 0}}, {0}, attrs_with(kGradName, attrs)}};
}

std::string size_problem(const AttrValue& value) {
  const bool is_empty = std::get<std::vector<std::int64_t>>(value).empty();
  return is_empty ? std::string() : pair_problem(value, 0);
}

std::vector<AttrSpec> attributes(std::string_view size, std::string_view help) {
  const auto not_negative = [](const AttrValue& value) -> std::string {
    return std::get<double>(value) >= 0 ? "" : "it must be 0 or more";
  };
  return {{size, std::vector<std::int64_t>{}, help, size_problem},
          {"scale_h", 0.0, "divisor of the places along the height; 0: the quotient of the heights",
           not_negative},
          {"scale_w", 0.0, "divisor of the places along the width; 0: the quotient of the widths",
           not_negative}};
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = kName,
    .summary = "y[h,w] = x[floor(h*scale),floor(w*scale)], scale the extents' quotient in fp32",
    .source = "torch.nn.functional.interpolate(mode='nearest'); CANN UpsampleNearest2d, "
              "ResizeNearestNeighborV2",
    .known_as = {.calls = {{"upsample_nearest2d, UpsampleNearest2d",
                            "self|x",
                            "result|out|y",
                            {.attrs = "output_size, scale_h: scales_h, scale_w: scales_w",
                             .where = "scale_factors:",
                             .needs = "output_size"}},
                           {"upsample_nearest2d_vec",
                            "input",
                            "result",
                            {.attrs = "output_size: whole plane of result",
                             .where = "scale_factors:"}},
                           {"ResizeNearestNeighborV2, ResizeNearestNeighborV2D",
                            "x",
                            "y",
                            {.attrs = "output_size: plane of y", .is_profiled_only = true}}},
                 .profiled = {{"ResizeNearestNeighborV2", "x, =size", "y"}}},
    .inputs = {{"self"}},
    .outputs = {{"result"}},
    .attrs = attributes("output_size", "[h] or [h,w]; [] is twice those of x"),
    .dtypes = kArithmeticDTypes,
    .formats = {Format::NCHW},
    .accuracy = AccuracyClass::exact,
    .infer = infer,
    .exact_reference = reference,
    .traffic = movement_traffic,
    .gradient = gradient,
}};

const RegisteredOp registered_grad{{
    .name = kGradName,
    .ir_name = "UpsampleNearest2DBackward",
    .summary = "dx = the sums of dy over the copies of each element",
    .source = "torch.nn.functional.interpolate backward; CANN ResizeNearestNeighborV2Grad",
    .known_as = {.calls = {{"UpsampleNearest2DBackward, upsample_nearest2d_backward",
                            "grads/grads_0|grad_output",
                            "grad_inputs/grad_inputs_0|result",
                            {.attrs = "input_size: plane of grad_inputs/grad_inputs_0|result, "
                                      "scale_h: scales_h, scale_w: scales_w",
                             .where = "scale_factors:",
                             .needs = "scale_h"}},
                           {"UpsampleNearest2DBackward, upsample_nearest2d_backward",
                            "grads/grads_0|grad_output",
                            "grad_inputs/grad_inputs_0|result",
                            {.attrs = "input_size: whole plane of "
                                      "grad_inputs/grad_inputs_0|result",
                             .where = "scale_factors:"}},
                           {"ResizeNearestNeighborV2Grad, ResizeNearestNeighborV2GradD",
                            "grads",
                            "y",
                            {.attrs = "input_size: plane of y", .is_profiled_only = true}}},
                 .profiled = {{"ResizeNearestNeighborV2Grad", "grads, =size", "y"}}},
    .inputs = {{"grad_output", "grads/grads_0"}},
    .outputs = {{"grad_input", "grad_inputs/grad_inputs_0"}},
    .attrs = attributes("input_size", "height and width of x; [] is half those of dy"),
    .dtypes = kArithmeticDTypes,
    .formats = {Format::NCHW},
    .infer = infer_grad,
    .reference = reference_grad,
    .traffic = input_traffic<1>,
    .mixing = Mixing::sums,
}};

}  // namespace

NearestPlaces nearest_places(const TensorDesc& x, const Attrs& attrs) {
  const Pair size = output_size_of(x, attrs);
  const Dims& shape = x.shape;
  return {shape[0] * shape[1], shape[2], shape[3],
          places_of(shape[2], size.h, attrs.number("scale_h")),
          places_of(shape[3], size.w, attrs.number("scale_w"))};
}

NearestPlaces nearest_grad_places(const TensorDesc& dy, const Attrs& attrs) {
  const Pair size = input_size_checked(dy, attrs);
  const Dims& shape = dy.shape;
  return {shape[0] * shape[1], size.h, size.w, places_of(size.h, shape[2], attrs.number("scale_h")),
          places_of(size.w, shape[3], attrs.number("scale_w"))};
}

}  // namespace opbench
