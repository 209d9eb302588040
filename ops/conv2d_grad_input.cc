#include <fmt/format.h>

#include "ops/conv2d.h"
#include "ops/elementwise.h"
#include "ops/format_rules.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "conv2d_grad_input";

Dims input_shape(const Dims& dy, const Dims& weight, const Attrs& attrs) {
  if (dy.size() != 4 || weight.size() != 4) {
    throw Error(
        fmt::format("{}: 'grad_output' has shape {} and 'weight' {}; allowed: [N, M, OH, "
                    "OW] and [M, C/groups, KH, KW]",
                    kName, to_string(dy), to_string(weight)));
  }
  const Pair stride = pair_of(attrs, "stride"), padding = pair_of(attrs, "padding"),
             dilation = pair_of(attrs, "dilation");
  const bool is_stated = !attrs.list("input_size").empty();
  const Pair size = is_stated
                        ? pair_of(attrs, "input_size")
                        : Pair{least_extent(dy[2], weight[2], stride.h, padding.h, dilation.h),
                               least_extent(dy[3], weight[3], stride.w, padding.w, dilation.w)};
  // The check of the convolution reports extents that no image has.
  return {dy[0], weight[1] * attrs.integer("groups"), std::max<std::int64_t>(size.h, 0),
          std::max<std::int64_t>(size.w, 0)};
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Dims &dy = inputs[0].shape, &weight = inputs[1].shape;
  const Dims x = input_shape(dy, weight, attrs);
  const Conv2d conv = conv2d_shape(kName, x, weight, attrs);
  require_groups_stored(kName, inputs[1], conv.groups);
  const Dims wanted = {conv.n, conv.m, conv.oh, conv.ow};
  if (dy != wanted) {
    throw Error(fmt::format(
        "{}: 'grad_output' has shape {}; allowed: {}, the result of a convolution of {}", kName,
        to_string(dy), to_string(wanted), to_string(x)));
  }
  return {with_shape(inputs[0], x)};
}

// Computes plane (n, c) of dx: every tap of every output of the group scatters dy.
void add_plane(const Conv2d& conv, const double* dy, const double* weight, double* dx) {
  const std::int64_t step = conv.window.stride.w;
  for (std::int64_t m = 0; m < conv.group_m(); ++m) {
    for (std::int64_t tap = 0; tap < conv.taps(); ++tap) {
      const double factor = weight[m * conv.terms() + tap];
      const double* plane = dy + m * conv.oh * conv.ow;
      for_each_tap_row(conv, tap / conv.window.kernel.w, tap % conv.window.kernel.w,
                       [&](auto oh, auto ih, auto begin, auto end, auto column) {
                         double* to = dx + ih * conv.w + column;
                         for (std::int64_t i = begin; i < end; ++i, to += step) {
                           *to += factor * plane[oh * conv.ow + i];
                         }
                       });
    }
  }
}

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Dims& weight = inputs[1].desc().shape;
  const Conv2d conv =
      conv2d_shape(kName, input_shape(inputs[0].desc().shape, weight, attrs), weight, attrs);
  return [conv, dy = inputs[0], weights = inputs[1].read_all()](std::size_t, ElementRange range,
                                                                std::span<double> to) {
    std::vector<double> outputs, dx;
    std::int64_t loaded = -1;
    const std::int64_t group = conv.group_m() * conv.oh * conv.ow;
    for_each_plane(
        range, conv.h * conv.w, [&](std::int64_t index, ElementRange part, std::int64_t at) {
          const std::int64_t n = index / conv.c, c = index % conv.c;
          const std::int64_t g = c / conv.group_c(), wanted = n * conv.groups + g;
          if (std::exchange(loaded, wanted) != wanted) {
            outputs.resize(static_cast<std::size_t>(group));
            dy.read({wanted * group, group}, outputs);
          }
          dx.assign(static_cast<std::size_t>(conv.h * conv.w), 0);
          add_plane(
              conv, outputs.data(),
              weights.data() + g * conv.group_m() * conv.terms() + c % conv.group_c() * conv.taps(),
              dx.data());
          std::copy_n(dx.begin() + part.first, part.count, to.begin() + at);
        });
  };
}

std::vector<AttrSpec> attributes() {
  std::vector<AttrSpec> attrs = conv2d_attrs();
  attrs.push_back(optional_pair_attr(
      "input_size", "height and width of x; [] is the least that gives 'grad_output'"));
  return attrs;
}

std::vector<Dims> inputs_like(const Dims& shape, const Attrs& attrs) {
  const std::int64_t c = shape.size() < 2 ? 1 : shape[1];
  return {shape, {c, c / attrs.integer("groups"), 3, 3}};
}

// An element of dx is a sum over the outputs of its group and all taps.
Distribution weights(const Problem& problem) {
  const Conv2d conv = conv2d_shape(
      kName, input_shape(problem.inputs[0].shape, problem.inputs[1].shape, problem.attrs),
      problem.inputs[1].shape, problem.attrs);
  return weight_data(conv.group_m() * conv.taps());
}

std::optional<FormatChoice> output_format(const FormatQuery& query) {
  return conv2d_output(query, {Format::NC1HWC0, "conv2d: dx is NC1HWC0"});
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "ConvolutionBackward",
    .summary = "dx = dy scattered through the weight, transposed convolution",
    .source = "torch.nn.functional.conv2d backward; CANN Conv2DBackpropInput",
    .known_as = {.calls = {{"Conv2DBackpropInput, Conv2DBackpropInputD",
                            "out_backprop, filter",
                            "y",
                            {.attrs = "stride: strides, padding: pads, dilation: dilations, "
                                      "groups, input_size: plane of y"}},
                           {"DepthwiseConv2DBackpropInput, DepthwiseConv2DBackpropInputD",
                            "out_backprop, filter",
                            "y",
                            {.attrs = "stride: strides, padding: pads, dilation: dilations, "
                                      "groups, input_size: plane of y",
                             .is_profiled_only = true}},
                           {"convolution_backward_input",
                            "grad_output, weight",
                            "result",
                            {.attrs = "stride: stride|strides, padding: padding|pads, dilation: "
                                      "dilation|dilations, groups, input_size: plane of input",
                             .is_profiled_only = true}}},
                 .profiled = {{"Conv2DBackpropInput", "=input_size, filter, out_backprop", "y"},
                              {"Conv2DBackpropInputD", "filter, out_backprop", "y"},
                              {"DepthwiseConv2DBackpropInput", "=input_size, filter, out_backprop",
                               "y"},
                              {"DepthwiseConv2DBackpropInputD", "filter, out_backprop", "y"},
                              {.names = "aten::convolution_backward.input",
                               .inputs = "grad_output, input, weight, , =stride, =padding, "
                                         "=dilation, =transposed, , =groups",
                               .outputs = "result",
                               .gives = "input"}},
                 .torch = "torch.nn.grad.conv2d_input({shape}, {1}, {0}, {stride}, {padding}, "
                          "{dilation}, {groups})",
                 .likely = likely_of_conv2d_grad_input},
    .inputs = {{"grad_output", "grads/grads_0", {}, unit_data},
               {"weight", "weight", {}, weights, kWeightFormats}},
    .outputs = {{"grad_input", "grad_inputs/grad_inputs_0"}},
    .attrs = attributes(),
    .dtypes = kArithmeticDTypes,
    .formats = kConv2dFormats,
    .infer = infer,
    .reference = reference,
    .traffic = conv2d_traffic,
    .inputs_like = inputs_like,
    .adapt_inputs = [](std::span<TensorDesc> inputs,
                       const Attrs& attrs) { store_weight_beside(inputs[0], attrs, inputs[1]); },
    .mixing = Mixing::sums,
    .context = {.uses_cube = true,
                .input_format = cube_images,
                .output_format = output_format,
                .keeps_parameters = keeps_grouped_weight},
}};

}  // namespace
}  // namespace opbench
