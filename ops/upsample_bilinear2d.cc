// Planes resized by interpolation between four elements, and the gradient.
#include <algorithm>
#include <cmath>

#include "ops/elementwise.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "ops/terms.h"
#include "ops/upsample.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "upsample_bilinear2d", kGradName = "upsample_bilinear2d_grad";

using Place = LinearPlace<double>;
using Linear = LinearPlanes<double>;

Linear forward_planes(const TensorDesc& x, const Attrs& attrs) {
  return {x.shape, infer_upsample(kName, x, attrs)[0].shape, attrs};
}
Linear backward_planes(const TensorDesc& dy, const Attrs& attrs) {
  return {infer_upsample_grad(kGradName, dy, attrs)[0].shape, dy.shape, attrs};
}

/// The first elements of the pairs between which a place may be computed to lie: rounding can move
/// it over an element.
struct Pairs {
  std::int64_t begin, end;

  Pairs(const Place& place, std::int64_t extent) {
    const double moved = 0x1p-21 * place.size;  // 8 roundings in fp32
    begin = place.first - (place.share < moved ? 1 : 0);
    end = place.first + (place.share > 1 - moved ? 2 : 1);
    const std::int64_t pairs = extent - 1;
    begin = std::clamp<std::int64_t>(begin, 0, std::max<std::int64_t>(0, pairs - 1));
    end = std::min(std::max(end, begin + 1), pairs);
  }
};

double between(const Place& place, double first, double second) {
  return (1 - place.share) * first + place.share * second;
}

// The element of y, or the sum of the magnitudes of its terms: those of the sum, and the change of
// y by a rounding error of the position.
double element(Sum sum, const Linear& of, const double* x, const Place& row, const Place& column) {
  const auto in_row = [&](std::int64_t i) {
    const double* const line = x + i * of.w;
    return between(column, summand(sum, line[column.first]), summand(sum, line[column.second]));
  };
  double result = between(row, in_row(row.first), in_row(row.second));
  if (sum == Sum::values) return result;
  double along_rows = 0, along_columns = 0;
  const auto at = [&](std::int64_t i, std::int64_t j) { return x[i * of.w + j]; };
  const Pairs rows(row, of.h), columns(column, of.w);
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    along_rows = std::max(along_rows,
                          std::fabs(between(column, at(i + 1, column.first) - at(i, column.first),
                                            at(i + 1, column.second) - at(i, column.second))));
  }
  for (std::int64_t j = columns.begin; j < columns.end; ++j) {
    along_columns =
        std::max(along_columns, std::fabs(between(row, at(row.first, j + 1) - at(row.first, j),
                                                  at(row.second, j + 1) - at(row.second, j))));
  }
  return result + row.size * along_rows + column.size * along_columns;
}

template <Sum kSum>
Reference elements(const InputReader& x, const Linear& of) {
  return [x, of](std::size_t, ElementRange range, std::span<double> to) {
    const std::int64_t count = of.h * of.w, columns = std::ssize(of.columns);
    std::vector<double> plane(static_cast<std::size_t>(count));
    for_each_plane(range, std::ssize(of.rows) * columns,
                   [&](std::int64_t index, ElementRange part, std::int64_t at) {
                     x.read({index * count, count}, plane);
                     for (std::int64_t i = 0; i < part.count; ++i) {
                       const std::int64_t place = part.first + i;
                       to[std::size_t(at + i)] =
                           element(kSum, of, plane.data(), of.rows[std::size_t(place / columns)],
                                   of.columns[std::size_t(place % columns)]);
                     }
                   });
  };
}

// Adds the shares of an element of dy to the elements of dx. With terms, a rounding error of the
// position moves all of dy from one element to the next.
void spread(Sum sum, const Linear& of, double dy, const Place& row, const Place& column,
            double* dx) {
  const auto add_row = [&](std::int64_t i, double value) {
    dx[i * of.w + column.first] += (1 - column.share) * value;
    dx[i * of.w + column.second] += column.share * value;
  };
  add_row(row.first, (1 - row.share) * dy);
  add_row(row.second, row.share * dy);
  if (sum == Sum::values) return;
  const Pairs rows(row, of.h), columns(column, of.w);
  for (std::int64_t i = rows.begin; i < rows.end + 1 && rows.begin < rows.end; ++i) {
    add_row(i, row.size * dy);
  }
  for (std::int64_t j = columns.begin; j < columns.end + 1 && columns.begin < columns.end; ++j) {
    dx[row.first * of.w + j] += (1 - row.share) * column.size * dy;
    dx[row.second * of.w + j] += row.share * column.size * dy;
  }
}

template <Sum kSum>
Reference gradients(const InputReader& dy, const Linear& of) {
  return [dy, of](std::size_t, ElementRange range, std::span<double> to) {
    const std::size_t width = of.columns.size(), count = of.rows.size() * width;
    std::vector<double> from(count), sums;
    for_each_plane(range, of.h * of.w, [&](std::int64_t index, ElementRange part, std::int64_t at) {
      dy.read({index * std::ssize(from), std::ssize(from)}, from);
      sums.assign(static_cast<std::size_t>(of.h * of.w), 0);
      for (std::size_t i = 0; i < count; ++i) {
        spread(kSum, of, summand(kSum, from[i]), of.rows[i / width], of.columns[i % width],
               sums.data());
      }
      std::copy_n(sums.begin() + part.first, part.count, to.begin() + at);
    });
  };
}

// For each element of dy: four products and sums, six differences or products for the shares.
template <int kOperations, std::size_t kOf>
Traffic traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  const std::vector<TensorDesc>& larger = kOf == 0 ? problem.outputs : problem.inputs;
  traffic.operations = kOperations * double(larger[0].elements());
  return traffic;
}

std::vector<AttrSpec> with_corners(std::vector<AttrSpec> attrs) {
  attrs.push_back({"align_corners", false, "the corners of x and y coincide"});
  return attrs;
}

constexpr std::string_view kAttrs =
    "align_corners, output_size, scale_h: scales_h, scale_w: scales_w";

const RegisteredOp registered{{
    .name = kName,
    .ir_name = kName,
    .summary = "y[h,w] = the four elements of x around (h + 1/2)/scale - 1/2, weighted by nearness",
    .source = "torch.nn.functional.interpolate(mode='bilinear'); CANN UpsampleBilinear2d, "
              "ResizeBilinearV2",
    .known_as = {.calls = {{"upsample_bilinear2d, upsample_bilinear2d_vec, UpsampleBilinear2d",
                            "self|x|input",
                            "result|out|y",
                            {.attrs = kAttrs, .where = "scale_factors:", .needs = "output_size"}},
                           {"upsample_bilinear2d_vec",
                            "input",
                            "result",
                            {.attrs = "align_corners, output_size: plane of result",
                             .only = "align_corners: 1"}},
                           {"upsample_bilinear2d_vec",
                            "input",
                            "result",
                            {.attrs = "align_corners, output_size: whole plane of result",
                             .where = "scale_factors:"}},
                           {"ResizeBilinearV2, ResizeBilinearV2D",
                            "x",
                            "y",
                            {.attrs = "align_corners, output_size: plane of y",
                             .is_profiled_only = true}}},
                 .profiled = {{"ResizeBilinearV2, UpsampleBilinear2d", "x, =size", "y"}},
                 .torch = "torch._C._nn.upsample_bilinear2d({0}, list({shape})[2:], "
                          "{align_corners}, {scale_h} or None, {scale_w} or None)"},
    .inputs = {{"self", "self", {}, unit_data}},
    .outputs = {{"result"}},
    .attrs = with_corners(upsample_attrs()),
    .dtypes = kArithmeticDTypes,
    .formats = {Format::NCHW},
    .infer = [](std::span<const TensorDesc> inputs,
                const Attrs& attrs) { return infer_upsample(kName, inputs[0], attrs); },
    .reference =
        [](std::span<const InputReader> inputs, const Attrs& attrs) {
          return elements<Sum::values>(inputs[0], forward_planes(inputs[0].desc(), attrs));
        },
    .terms =
        [](std::span<const InputReader> inputs, const Attrs& attrs) {
          return Terms{.magnitude = elements<Sum::terms>(inputs[0],
                                                         forward_planes(inputs[0].desc(), attrs))};
        },
    .traffic = traffic<11, 0>,
    .gradient = [](const Problem& forward) { return upsample_gradient(kGradName, forward); },
    .mixing = Mixing::sums,
}};

KnownCall grad_call(std::string_view attrs, KnownCallRules rules) {
  rules.attrs = attrs;
  return {"UpsampleBilinear2DBackward, upsample_bilinear2d_backward, UpsampleBilinear2dGrad",
          "grads/grads_0|grad_output", "grad_inputs/grad_inputs_0|result|grad_input|out", rules};
}

const RegisteredOp registered_grad{{
    .name = kGradName,
    .ir_name = "UpsampleBilinear2DBackward",
    .summary = "dx = the sums of dy, shared among the four elements around its place",
    .source = "torch.nn.functional.interpolate backward; CANN UpsampleBilinear2dGrad, "
              "ResizeBilinearV2Grad",
    .known_as =
        {.calls = {grad_call("align_corners, scale_h: scales_h, scale_w: scales_w, input_size: "
                             "plane of grad_inputs/grad_inputs_0|result|grad_input|out",
                             {.only = "output_size"}),
                   grad_call("align_corners, input_size: plane of "
                             "grad_inputs/grad_inputs_0|result|grad_input|out",
                             {.only = "align_corners: 1"}),
                   grad_call("align_corners, input_size: whole plane of "
                             "grad_inputs/grad_inputs_0|result|grad_input|out",
                             {.where = "scale_factors:"}),
                   {"ResizeBilinearV2Grad, ResizeBilinearV2GradD",
                    "grads",
                    "y",
                    {.attrs = "align_corners, input_size: plane of y", .is_profiled_only = true}}},
         .profiled = {{"ResizeBilinearV2Grad", "grads, original_image", "y"},
                      {"UpsampleBilinear2dGrad", "grad_output", "y"}},
         .torch = "torch.ops.aten.upsample_bilinear2d_backward({0}, list({0}.shape)[2:], "
                  "list({shape}), {align_corners}, {scale_h} or None, {scale_w} or None)"},
    .inputs = {{"grad_output", "grads/grads_0", {}, unit_data}},
    .outputs = {{"grad_input", "grad_inputs/grad_inputs_0"}},
    .attrs = with_corners(upsample_grad_attrs()),
    .dtypes = kArithmeticDTypes,
    .formats = {Format::NCHW},
    .infer = [](std::span<const TensorDesc> inputs,
                const Attrs& attrs) { return infer_upsample_grad(kGradName, inputs[0], attrs); },
    .reference =
        [](std::span<const InputReader> inputs, const Attrs& attrs) {
          return gradients<Sum::values>(inputs[0], backward_planes(inputs[0].desc(), attrs));
        },
    .terms =
        [](std::span<const InputReader> inputs, const Attrs& attrs) {
          return Terms{.magnitude = gradients<Sum::terms>(
                           inputs[0], backward_planes(inputs[0].desc(), attrs))};
        },
    .traffic = traffic<11, 1>,
    .mixing = Mixing::sums,
}};

}  // namespace
}  // namespace opbench
