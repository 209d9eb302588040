// Boxes of a plane sampled between its places, and the gradient.
#include "ops/roi_align.h"

#include <fmt/format.h>

#include "ops/elementwise.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "ops/pool.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "roi_align", kGradName = "roi_align_grad";
// Boxes that need more are refused: a device would not sample them either.
constexpr double kMostSamples = 4096;  // of a bin along an axis, and bins

/// Calls body(element of the bins' tensor, element of the planes' tensor, factor) for all taps of
/// all channels.
template <class Body>
void for_each_tap(const InputReader& rois, const Dims& planes, const Attrs& attrs, Sum sum,
                  Body body) {
  const RoiRules rules(attrs);
  const std::int64_t channels = planes[1], h = planes[2], w = planes[3];
  const std::int64_t bins = rules.pooled_h * rules.pooled_w;
  const std::vector<Roi> all = rois_of(rois.read_all(), rois.desc().shape, planes[0]);
  for (std::size_t k = 0; channels > 0 && k < all.size(); ++k) {
    const RoiTaps taps = roi_taps(all[k], rules, h, w, sum);
    for (std::int64_t c = 0; c < channels; ++c) {
      const std::int64_t bin = (static_cast<std::int64_t>(k) * channels + c) * bins;
      const std::int64_t plane = (all[k].image * channels + c) * h * w;
      for (const auto& [tap, factor] : taps) {
        body(static_cast<std::size_t>(bin + tap.first),
             static_cast<std::size_t>(plane + tap.second), factor);
      }
    }
  }
}

void require_rois(std::string_view op, const TensorDesc& rois, std::int64_t images) {
  const Dims& shape = rois.shape;
  const bool has_rows = shape.size() == 2 && (shape[1] == 5 || shape[1] == 4);
  if (has_rows && (images > 0 || shape[0] == 0)) return;
  throw Error(
      fmt::format("{}: 'rois' has shape {} (images: {}); allowed: [boxes, 5] with the image first, "
                  "or [boxes, 4], equally many for each image",
                  op, to_string(shape), images));
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  require_planes(kName, "input", inputs[0]);
  require_rois(kName, inputs[1], inputs[0].shape[0]);
  const RoiRules rules(attrs);
  return {describe(inputs[0].dtype,
                   {inputs[1].shape[0], inputs[0].shape[1], rules.pooled_h, rules.pooled_w})};
}

template <Sum kSum>
Reference pooled(std::span<const InputReader> inputs, const Attrs& attrs) {
  const std::vector<double> x = inputs[0].read_all();
  const RoiRules rules(attrs);
  std::vector<double> y(static_cast<std::size_t>(infer(descs_of(inputs), attrs)[0].elements()));
  for_each_tap(inputs[1], inputs[0].desc().shape, attrs, kSum,
               [&](std::size_t bin, std::size_t place, double factor) {
                 y[bin] += summand(kSum, x[place] * factor);
               });
  return elements_of({std::move(y)});
}

std::vector<TensorDesc> infer_grad(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const RoiRules rules(attrs);
  const Dims& planes = attrs.list("input_size");
  require_rois(kGradName, inputs[1], planes[0]);
  const Dims dy = {inputs[1].shape[0], planes[1], rules.pooled_h, rules.pooled_w};
  if (inputs[0].shape == dy) return {describe(inputs[0].dtype, planes)};
  throw Error(fmt::format("{}: 'grad' has shape {}; allowed: {}", kGradName,
                          to_string(inputs[0].shape), to_string(dy)));
}

template <Sum kSum>
Reference scattered(std::span<const InputReader> inputs, const Attrs& attrs) {
  const std::vector<double> dy = inputs[0].read_all();
  const Dims& planes = attrs.list("input_size");
  std::vector<double> dx(static_cast<std::size_t>(element_count(planes)));
  for_each_tap(inputs[1], planes, attrs, kSum,
               [&](std::size_t bin, std::size_t place, double factor) {
                 dx[place] += summand(kSum, dy[bin] * factor);
               });
  return elements_of({std::move(dx)});
}

template <auto kReference>
Terms magnitude_of(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Reference sums = kReference(inputs, attrs);
  return {.magnitude = sums, .greatest = sums};
}

// A sample has four products and sums; an adaptive grid is taken as 2x2.
template <std::size_t kBins>
Traffic traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  const std::int64_t ratio = RoiRules(problem.attrs).sampling_ratio;
  const TensorDesc& bins = kBins == 0 ? problem.inputs[0] : problem.outputs[0];
  traffic.operations = 8 * double(ratio > 0 ? ratio * ratio : 4) * double(bins.elements());
  return traffic;
}

void check(std::string_view op, const InputReader& rois, std::int64_t images, const Attrs& attrs) {
  const RoiRules rules(attrs);
  const std::vector<double> values = rois.read_all();
  const auto columns = static_cast<std::size_t>(rois.desc().shape[1]);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool is_image = columns == 5 && i % columns == 0;
    const bool is_right = is_image ? values[i] >= 0 && values[i] < double(images)
                                   : std::fabs(values[i] * rules.scale) <= kMostSamples;
    if (is_right) continue;
    throw Error(fmt::format("{}: 'rois' has {} in row {}; allowed: {}", op, values[i], i / columns,
                            is_image ? fmt::format("an image below {}", images)
                                     : fmt::format("up to {:g} places", kMostSamples)));
  }
}

std::vector<GradientCall> gradient(const Problem& forward) {
  std::vector<std::pair<std::string_view, AttrValue>> attrs = {
      {"input_size", forward.inputs[0].shape}};
  for (const char* name : {"pooled_height", "pooled_width", "sampling_ratio"}) {
    attrs.emplace_back(name, forward.attrs.integer(name));
  }
  attrs.emplace_back("spatial_scale", forward.attrs.number("spatial_scale"));
  attrs.emplace_back("aligned", forward.attrs.flag("aligned"));
  return {{kGradName,
           {{GradientArg::output_gradient, 0}, {GradientArg::input, 1}},
           {0},
           attrs_with(kGradName, attrs)}};
}

std::string must_be_extent(const AttrValue& value) {
  const auto extent = double(std::get<std::int64_t>(value));
  return extent >= 1 && extent <= kMostSamples ? "" : "it must be from 1 to 4096";
}

std::vector<AttrSpec> roi_attrs() {
  return {{"pooled_height", std::int64_t{7}, "rows of bins", must_be_extent},
          {"pooled_width", std::int64_t{7}, "columns of bins", must_be_extent},
          {"spatial_scale", 1.0, "factor of coordinates"},
          {"sampling_ratio", std::int64_t{0},
           "samples of a bin along an axis; 0 or less: the length of the bin, rounded up",
           [](const AttrValue& value) -> std::string {
             return std::get<std::int64_t>(value) <= 128 ? "" : "it must be 128 or less";
           }},
          {"aligned", false,
           "pixels have their centres at whole numbers; else boxes are at least "
           "one place long"}};
}

std::vector<AttrSpec> roi_grad_attrs() {
  std::vector<AttrSpec> attrs = roi_attrs();
  attrs.insert(attrs.begin(), {"input_size", std::vector<std::int64_t>{1, 1, 16, 16},
                               "images, channels, height and width of the planes",
                               [](const AttrValue& value) -> std::string {
                                 const auto& size = std::get<std::vector<std::int64_t>>(value);
                                 return size.size() == 4 && *std::ranges::min_element(size) >= 1
                                            ? ""
                                            : "it must have four extents";
                               }});
  return attrs;
}

// Boxes inside the plane; with images as first numbers all numbers are below the number of images.
Distribution rois_data(const TensorDesc& rois, const Dims& planes, const Attrs& attrs) {
  if (rois.shape[1] == 5) return {DistributionKind::uniform, 0, double(planes[0]) * (1 - 0x1p-8)};
  const double scale = std::fabs(attrs.number("spatial_scale"));
  const auto extent = double(std::max(planes[2], planes[3]));
  return {DistributionKind::boxes, std::clamp(scale > 0 ? extent / scale : extent, 8.0, 1e6), 1};
}

constexpr std::string_view kSameNames =
    "spatial_scale, pooled_height, pooled_width, sampling_ratio: sampling_ratio|sample_num, "
    "aligned";

const RegisteredOp registered{{
    .name = kName,
    .ir_name = kName,
    .summary =
        "y[k][c][bin] = the mean of samples of x inside the bins of box k, each between four "
        "places; samples outside of the plane are 0",
    .source = "torchvision.ops.roi_align; He et al. 2017, arXiv:1703.06870; CANN ROIAlign",
    .known_as = {.calls = {{"roi_align, ROIAlign, npu_roi_align",
                            "input|features|self, rois",
                            "result|y|out",
                            {.attrs = kSameNames, .where = "roi_end_mode: 0"}},
                           {"ROIAlign, npu_roi_align",
                            "features|self, rois",
                            "result|y|out",
                            {.attrs = "spatial_scale, pooled_height, pooled_width, "
                                      "sampling_ratio: sample_num, aligned: =true",
                             .only = "roi_end_mode: 2"}}},
                 .profiled = {{"torchvision::roi_align",
                               "input, rois, =spatial_scale, =pooled_height, =pooled_width, "
                               "=sampling_ratio, =aligned"}}},
    .inputs = {{"input", "input", {}, unit_data},
               {.name = "rois",
                .dtypes = kArithmeticDTypes,
                .data =
                    [](const Problem& problem) {
                      return rois_data(problem.inputs[1], problem.inputs[0].shape, problem.attrs);
                    }}},
    .outputs = {{"result"}},
    .attrs = roi_attrs(),
    .dtypes = kArithmeticDTypes,
    .formats = {Format::NCHW},
    .infer = infer,
    .reference = pooled<Sum::values>,
    .terms = magnitude_of<pooled<Sum::terms>>,
    .traffic = traffic<1>,
    .gradient = gradient,
    .inputs_like = [](const Dims& shape, const Attrs&) -> std::vector<Dims> {
      return {shape, {2 * (shape.empty() ? 1 : shape[0]), 4}};
    },
    .check_values =
        [](const Problem& problem, std::span<const InputReader> inputs) {
          check(kName, inputs[1], problem.inputs[0].shape[0], problem.attrs);
        },
    .mixing = Mixing::sums,
}};

const RegisteredOp registered_grad{{
    .name = kGradName,
    .ir_name = "_roi_align_backward",
    .summary = "dx = dy of every bin, added to the places of its samples",
    .source = "torchvision.ops.roi_align backward; CANN ROIAlignGrad",
    .known_as = {.calls = {{"_roi_align_backward",
                            "grad, rois",
                            "result",
                            {.attrs = "input_size: shape of result, spatial_scale, pooled_height, "
                                      "pooled_width, sampling_ratio, aligned"}},
                           {"ROIAlignGrad, npu_roi_alignbk",
                            "ydiff|self, rois",
                            "result|xdiff",
                            {.attrs = "input_size: xdiff_shape, spatial_scale, pooled_height, "
                                      "pooled_width, sampling_ratio: sample_num",
                             .where = "roi_end_mode: 0"}},
                           {"ROIAlignGrad, npu_roi_alignbk",
                            "ydiff|self, rois",
                            "result|xdiff",
                            {.attrs = "input_size: xdiff_shape, spatial_scale, pooled_height, "
                                      "pooled_width, sampling_ratio: sample_num, aligned: =true",
                             .only = "roi_end_mode: 2"}}}},
    .inputs = {{"grad", "grads/grads_0", {}, unit_data},
               {.name = "rois",
                .dtypes = kArithmeticDTypes,
                .data =
                    [](const Problem& problem) {
                      return rois_data(problem.inputs[1], problem.attrs.list("input_size"),
                                       problem.attrs);
                    }}},
    .outputs = {{"grad_input", "grad_inputs/grad_inputs_0"}},
    .attrs = roi_grad_attrs(),
    .dtypes = kArithmeticDTypes,
    .formats = {Format::NCHW},
    .infer = infer_grad,
    .reference = scattered<Sum::values>,
    .terms = magnitude_of<scattered<Sum::terms>>,
    .traffic = traffic<0>,
    .inputs_like = [](const Dims& shape, const Attrs& attrs) -> std::vector<Dims> {
      const std::int64_t boxes = 4 * (shape.empty() ? 1 : shape[0]);
      const RoiRules rules(attrs);
      return {{boxes, attrs.list("input_size")[1], rules.pooled_h, rules.pooled_w}, {boxes, 4}};
    },
    .check_values =
        [](const Problem& problem, std::span<const InputReader> inputs) {
          check(kGradName, inputs[1], problem.attrs.list("input_size")[0], problem.attrs);
        },
    .mixing = Mixing::sums,
}};

}  // namespace

RoiRules::RoiRules(const Attrs& attrs)
    : pooled_h(attrs.integer("pooled_height")),
      pooled_w(attrs.integer("pooled_width")),
      sampling_ratio(attrs.integer("sampling_ratio")),
      scale(attrs.number("spatial_scale")),
      is_aligned(attrs.flag("aligned")) {}

std::vector<Roi> rois_of(std::span<const double> values, const Dims& shape, std::int64_t images) {
  const auto columns = static_cast<std::size_t>(shape[1]);
  std::vector<Roi> all;
  for (std::int64_t k = 0; k < shape[0]; ++k) {
    const double* const row = values.data() + static_cast<std::size_t>(k) * columns;
    const std::int64_t image =
        columns == 5 ? static_cast<std::int64_t>(row[0]) : k * images / shape[0];
    const double* const box = row + columns - 4;
    all.push_back({box[0], box[1], box[2], box[3], image});
  }
  return all;
}

}  // namespace opbench
