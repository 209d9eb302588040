// Planes resized by the nearest element, and the gradient that sums the copies.
#include <algorithm>
#include <cmath>

#include "ops/conv2d.h"
#include "ops/elementwise.h"
#include "ops/movement.h"
#include "ops/pool.h"
#include "ops/upsample.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "upsample_nearest2d", kGradName = "upsample_nearest2d_grad";

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

// An empty y has no places: its extents may be large.
NearestPlaces places_between(const Dims& x, const Dims& y, const Attrs& attrs) {
  NearestPlaces of{x[0] * x[1], x[2], x[3], {}, {}};
  if (element_count(y) == 0) return of;
  of.rows = places_of(x[2], y[2], attrs.number("scale_h"));
  of.columns = places_of(x[3], y[3], attrs.number("scale_w"));
  return of;
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  return infer_upsample(kName, inputs[0], attrs);
}

std::vector<TensorDesc> infer_grad(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  return infer_upsample_grad(kGradName, inputs[0], attrs);
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
    .attrs = upsample_attrs(),
    .dtypes = kArithmeticDTypes,
    .formats = {Format::NCHW},
    .accuracy = AccuracyClass::exact,
    .infer = infer,
    .exact_reference = reference,
    .traffic = movement_traffic,
    .gradient = [](const Problem& forward) { return upsample_gradient(kGradName, forward); },
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
    .attrs = upsample_grad_attrs(),
    .dtypes = kArithmeticDTypes,
    .formats = {Format::NCHW},
    .infer = infer_grad,
    .reference = reference_grad,
    .traffic = input_traffic<1>,
    .mixing = Mixing::sums,
}};

}  // namespace

NearestPlaces nearest_places(const TensorDesc& x, const Attrs& attrs) {
  return places_between(x.shape, infer_upsample(kName, x, attrs)[0].shape, attrs);
}

NearestPlaces nearest_grad_places(const TensorDesc& dy, const Attrs& attrs) {
  return places_between(infer_upsample_grad(kGradName, dy, attrs)[0].shape, dy.shape, attrs);
}

}  // namespace opbench
