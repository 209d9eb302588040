#include "ops/conv2d.h"

#include <fmt/format.h>

#include "ops/channels.h"
#include "ops/elementwise.h"
#include "ops/format_rules.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Conv2d conv = conv2d_shape("conv2d", inputs[0].shape, inputs[1].shape, attrs);
  if (inputs.size() > 2) require_per_channel("conv2d", "bias", inputs[2], conv.m);
  require_groups_stored("conv2d", inputs[1], conv.groups);
  return {with_shape(inputs[0], {conv.n, conv.m, conv.oh, conv.ow})};
}

// Computes rows [first, last) of plane (n, m) of y.
void add_rows(const Conv2d& conv, const double* x, const double* weight, std::int64_t first,
              std::int64_t last, double* y) {
  for (std::int64_t k = 0; k < conv.terms(); ++k) {
    const std::int64_t tap = k % conv.taps();
    const double factor = weight[k];
    const double* plane = x + k / conv.taps() * conv.h * conv.w;
    const std::int64_t step = conv.window.stride.w;
    for_each_tap_row(conv, tap / conv.window.kernel.w, tap % conv.window.kernel.w,
                     [&](auto oh, auto ih, auto begin, auto end, auto column) {
                       if (oh < first || oh >= last) return;
                       const double* from = plane + ih * conv.w + column;
                       double* to = y + (oh - first) * conv.ow;
                       for (std::int64_t i = begin; i < end; ++i, from += step) {
                         to[i] += factor * *from;
                       }
                     });
  }
}

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Conv2d conv = conv2d_shape("conv2d", inputs[0].desc().shape, inputs[1].desc().shape, attrs);
  return [conv, x = inputs[0], weight = inputs[1].read_all(),
          bias = inputs.size() > 2 ? inputs[2].read_all() : std::vector<double>()](
             std::size_t, ElementRange range, std::span<double> to) {
    std::vector<double> channels, rows;
    std::int64_t loaded = -1;
    const std::int64_t plane = conv.oh * conv.ow, group = conv.group_c() * conv.h * conv.w;
    for_each_plane(range, plane, [&](std::int64_t index, ElementRange part, std::int64_t at) {
      const std::int64_t n = index / conv.m, m = index % conv.m, g = m / conv.group_m();
      if (std::exchange(loaded, n * conv.groups + g) != n * conv.groups + g) {
        channels.resize(static_cast<std::size_t>(group));
        x.read({(n * conv.groups + g) * group, group}, channels);
      }
      const std::int64_t first = part.first / conv.ow;
      const std::int64_t last = (part.first + part.count - 1) / conv.ow + 1;
      rows.assign(static_cast<std::size_t>((last - first) * conv.ow),
                  bias.empty() ? 0 : bias[static_cast<std::size_t>(m)]);
      add_rows(conv, channels.data(), weight.data() + m * conv.terms(), first, last, rows.data());
      std::copy_n(rows.begin() + part.first % conv.ow, part.count, to.begin() + at);
    });
  };
}

std::vector<GradientCall> gradient(const Problem& forward) {
  const GradientArg dy{GradientArg::output_gradient, 0};
  const Conv2d conv = conv2d_shape(forward);
  // All attributes that the gradient also declares, and the extents that dy does not determine.
  const auto attrs_of = [&](std::string_view op, std::string_view extents, std::int64_t h,
                            std::int64_t w) {
    Attrs attrs = forward.attrs.restricted_to(find_op(op).attrs);
    attrs.put(extents, std::vector<std::int64_t>{h, w});
    return attrs;
  };
  std::vector<GradientCall> calls = {
      {"conv2d_grad_input",
       {dy, {GradientArg::input, 1}},
       {0},
       attrs_of("conv2d_grad_input", "input_size", conv.h, conv.w)},
      {"conv2d_grad_weight",
       {dy, {GradientArg::input, 0}},
       {1},
       attrs_of("conv2d_grad_weight", "kernel_size", conv.window.kernel.h, conv.window.kernel.w)}};
  if (forward.inputs.size() > 2) calls.push_back({"bias_grad", {dy}, {2}});
  return calls;
}

// A 3x3 kernel with as many outputs as channels.
std::vector<Dims> inputs_like(const Dims& shape, const Attrs& attrs) {
  const std::int64_t c = shape.size() < 2 ? 1 : shape[1];
  return {shape, {c, c / attrs.integer("groups"), 3, 3}, {c}};
}

Distribution weights(const Problem& problem) { return weight_data(conv2d_shape(problem).terms()); }

std::optional<FormatChoice> output_format(const FormatQuery& query) {
  if (is_depthwise(query.problem) && !query.rules.dwconv_output_5hd) {
    return conv2d_output(query, {Format::NCHW,
                                 "conv2d: a depthwise output is NCHW "
                                 "(dwconv_output_5hd is off)"});
  }
  return conv2d_output(query, {Format::NC1HWC0, "conv2d: the output is NC1HWC0"});
}

const RegisteredOp registered{{
    .name = "conv2d",
    .ir_name = "convolution",
    .summary = "y[n,m] = the sum over c of x[n,c] correlated with weight[m,c], plus bias[m]",
    .source = "torch.nn.functional.conv2d; CANN Conv2D, DepthwiseConv2D",
    .known_as =
        {.calls =
             {{"conv2d, convolution, _convolution, cudnn_convolution, mkldnn_convolution, "
               "npu_conv2d, npu_convolution, thnn_conv_depthwise2d, thnn_conv2d, Conv2D, "
               "DepthwiseConv2D, Conv",
               "input|self|x|X, weight|filter|W of 4 axes, bias?|B?",
               "result|out|y|Y",
               {.attrs = "stride: stride|strides, padding: padding|pads, dilation: "
                         "dilation|dilations, groups: groups|group",
                .where = "transposed: 0"}},
              {.names =
                   "NpuConvolutionBackward, CudnnConvolutionBackward, MkldnnConvolutionBackward, "
                   "ThnnConv2DBackward, ThnnConvDepthwise2DBackward, SlowConv3DBackward, "
                   "ConvolutionBackward, "
                   "ConvolutionOverrideableBackward, NpuConv2DBackward",
               .rules =
                   {.where = "transposed: 0",
                    .parts = {{"conv2d_grad_input", "grads/grads_0|grad_output of 4 axes, weight",
                               "grad_inputs/grad_inputs_0|result0",
                               "stride, padding, dilation, groups, input_size: plane of "
                               "input|self"},
                              {"conv2d_grad_weight",
                               "grads/grads_0|grad_output of 4 axes, input|self",
                               "grad_inputs/grad_inputs_1|result1",
                               "stride, padding, dilation, groups, kernel_size: plane of weight"},
                              {"conv1d_grad_input", "grads/grads_0|grad_output of 3 axes, weight",
                               "grad_inputs/grad_inputs_0|result0",
                               "stride, padding, dilation, groups, input_size: shape of "
                               "input|self"},
                              {"conv1d_grad_weight",
                               "grads/grads_0|grad_output of 3 axes, input|self",
                               "grad_inputs/grad_inputs_1|result1",
                               "stride, padding, dilation, groups, weight_size: shape of weight"},
                              {"conv3d_grad_input", "grads/grads_0|grad_output of 5 axes, weight",
                               "grad_inputs/grad_inputs_0|result0",
                               "stride, padding, dilation, groups, input_size: shape of "
                               "input|self"},
                              {"conv3d_grad_weight",
                               "grads/grads_0|grad_output of 5 axes, input|self",
                               "grad_inputs/grad_inputs_1|result1",
                               "stride, padding, dilation, groups, weight_size: shape of weight"},
                              {"bias_grad", "grads/grads_0|grad_output",
                               "grad_inputs/grad_inputs_2|result2"}}}}},
         .profiled =
             {{"Conv2D, DepthwiseConv2D", "x, filter, bias", "y"},
              {"aten::cudnn_convolution", "input, weight, =padding, =stride, =dilation, =groups"},
              {"aten::_convolution, aten::convolution",
               "input, weight, bias, =stride, =padding, =dilation, =transposed, , =groups"},
              {"aten::conv2d, npu::npu_conv2d",
               "input, weight, bias, =stride, =padding, =dilation, =groups"},
              {.names = "aten::convolution_backward, aten::convolution_backward_overrideable",
               .inputs = "grad_output, input, weight, , =stride, =padding, =dilation, =transposed, "
                         ", =groups",
               .into = "aten::convolution_backward.input, aten::convolution_backward.weight"}},
         .torch = "F.conv2d({0}, {1}, {2}, {stride}, {padding}, {dilation}, {groups})",
         .likely = likely_of_conv2d},
    .inputs = {{"self", "self", {}, unit_data},
               {"weight", "weight", {}, weights, kWeightFormats},
               {"bias", "bias", {}, unit_data, {Format::ND}}},
    .outputs = {{"result"}},
    .optional_inputs = 1,
    .attrs = conv2d_attrs(),
    .dtypes = kArithmeticDTypes,
    .formats = kConv2dFormats,
    .infer = infer,
    .reference = reference,
    .traffic = conv2d_traffic,
    .gradient = gradient,
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
