// Planes sampled at the points of a grid. Devices compute positions in fp32, so the terms include
// their rounding errors: a point next to an element's border may belong to either side.
#include <fmt/format.h>

#include <memory>

#include "ops/conv2d.h"
#include "ops/elementwise.h"
#include "ops/grid_sample_points.h"
#include "ops/matmul.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "grid_sample";

// The terms of a sampled element: those of the sum, and the change by a rounding error of the
// position.
double element_terms(const SampledPlanes& of, const SampledPlane& plane, const GridPoint& point) {
  const GridCell &x = point.x.exact(), &y = point.y.exact();
  if (point.x.is_lost || point.y.is_lost) return plane.greatest() / of.roundoff;
  const double terms = plane.sample(Sum::terms, x, y);
  double change = 0;
  if (of.is_nearest) {
    for (const GridCell& other_x : point.x.all) {
      for (const GridCell& other_y : point.y.all) {
        change = std::fmax(
            change, std::fabs(plane.at(other_y.first, other_x.first) - plane.at(y.first, x.first)));
      }
    }
    return terms + change / of.roundoff;
  }
  double along_x = 0, along_y = 0;
  for (const GridCell& other : point.x.all) {
    along_x = std::fmax(along_x, std::fabs(plane.along_x(Sum::values, other, y)));
  }
  for (const GridCell& other : point.y.all) {
    along_y = std::fmax(along_y, std::fabs(plane.along_y(Sum::values, x, other)));
  }
  return terms + point.x.size * along_x + point.y.size * along_y;
}

template <Sum kSum>
Reference elements(std::span<const InputReader> inputs, const Attrs& attrs) {
  const auto of = std::make_shared<const SampledPlanes>(kName, inputs[0], inputs[1], attrs);
  return [of](std::size_t, ElementRange range, std::span<double> to) {
    for_each_plane(
        range, of->points(), [&](std::int64_t index, ElementRange part, std::int64_t at) {
          const std::int64_t image = index / of->c;
          const SampledPlane plane = of->plane_of(image, index % of->c);
          for (std::int64_t i = 0; i < part.count; ++i) {
            const GridPoint point = of->point(image, part.first + i);
            to[std::size_t(at + i)] = kSum == Sum::terms
                                          ? element_terms(*of, plane, point)
                                          : plane.sample(kSum, point.x.exact(), point.y.exact());
          }
        });
  };
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const GridSample of(kName, inputs[0].shape, inputs[1].shape, attrs);
  return {with_shape(inputs[0], {of.n, of.c, of.oh, of.ow})};
}

std::string word_problem(const AttrValue& value, std::initializer_list<std::string_view> words) {
  const auto& word = std::get<std::string>(value);
  if (std::find(words.begin(), words.end(), word) != words.end()) return {};
  return fmt::format("it must be {}", fmt::join(words, " or "));
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "grid_sampler_2d",
    .summary = "y[n,c,i,j] = x[n,c] at the position grid[n,i,j], between four elements or nearest",
    .source = "torch.nn.functional.grid_sample; CANN GridSampler2D",
    .known_as = {.calls = {{"grid_sampler_2d, grid_sampler, grid_sample, cudnn_grid_sampler, "
                            "GridSampler2D, GridSample",
                            "input|x|X, grid",
                            "result|out|y|Y",
                            {.attrs = kGridSampleAttrs, .needs = "mode, padding_mode"}}},
                 .profiled = {{"GridSampler2D", "x, grid", "y"}},
                 .torch = "F.grid_sample({0}, {1}, {mode}, {padding_mode}, {align_corners})"},
    .inputs = {{"input", "input", {}, unit_data}, {"grid", "grid", {}, grid_data}},
    .outputs = {{"result"}},
    .attrs = grid_sample_attrs(),
    .dtypes = kArithmeticDTypes,
    .formats = {Format::NCHW},
    .infer = infer,
    .reference = elements<Sum::values>,
    .terms =
        [](std::span<const InputReader> inputs, const Attrs& attrs) {
          return Terms{.magnitude = elements<Sum::terms>(inputs, attrs)};
        },
    .traffic = grid_sample_traffic<8, 0>,
    .gradient =
        [](const Problem&) {
          return std::vector<GradientCall>{{"grid_sample_grad",
                                            {{GradientArg::output_gradient, 0},
                                             {GradientArg::input, 0},
                                             {GradientArg::input, 1}},
                                            {0, 1}}};
        },
    .inputs_like = grid_sample_inputs,
    .mixing = Mixing::sums,
}};

}  // namespace

std::vector<AttrSpec> grid_sample_attrs() {
  return {{"mode", std::string("bilinear"), "between four elements, or the nearest one",
           [](const AttrValue& value) {
             return word_problem(value, {"bilinear", "nearest"});
           }},
          {"padding_mode", std::string("zeros"),
           "outside of a plane: zeros, the element at the border, or the plane reflected",
           [](const AttrValue& value) {
             return word_problem(value, {"zeros", "border", "reflection"});
           }},
          {"align_corners", false, "-1 and 1 are centres of elements, not outer edges"}};
}

Distribution grid_data(const Problem&) { return {DistributionKind::uniform, -1.25, 1.25}; }

std::vector<Dims> grid_sample_inputs(const Dims& shape, const Attrs&) {
  if (shape.size() != 4) return {shape, shape};
  return {shape, {shape[0], shape[2], shape[3], 2}};
}

GridSample::GridSample(std::string_view op, const Dims& input, const Dims& grid, const Attrs& attrs)
    : is_nearest(attrs.word("mode") == "nearest") {
  if (input.size() != 4 || input[2] < 1 || input[3] < 1) {
    throw Error(
        fmt::format("{}: 'input' has shape {}; allowed: [N, C, H, W] with H and W of 1 or "
                    "more",
                    op, to_string(input)));
  }
  if (grid.size() != 4 || grid[0] != input[0] || grid[3] != 2) {
    throw Error(
        fmt::format("{}: 'grid' has shape {}; allowed: [{}, OH, OW, 2], the number of "
                    "images first",
                    op, to_string(grid), input[0]));
  }
  n = input[0];
  c = input[1];
  h = input[2];
  w = input[3];
  oh = grid[1];
  ow = grid[2];
}

}  // namespace opbench
