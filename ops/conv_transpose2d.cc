// Transposed convolution, the gradient of a convolution by its input, as a layer that enlarges
// images. It has a bias and an output padding for the rows and columns that a stride leaves open.
#include <fmt/format.h>

#include <algorithm>

#include "ops/conv2d.h"
#include "ops/elementwise.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "conv_transpose2d", kGradient = "conv2d_grad_input";

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Op& of = find_op(kGradient);
  std::vector<TensorDesc> result =
      of.infer(inputs.first(2), transposed_attrs(inputs[0].shape, inputs[1].shape, attrs));
  if (inputs.size() > 2 && inputs[2].shape != Dims{result[0].shape[1]}) {
    throw Error(fmt::format("{}: 'bias' has shape {}; allowed: {}, one number for each channel",
                            kName, to_string(inputs[2].shape), result[0].shape[1]));
  }
  return result;
}

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Dims &x = inputs[0].desc().shape, &weight = inputs[1].desc().shape;
  const Attrs of = transposed_attrs(x, weight, attrs);
  const Op& op = find_op(kGradient);
  const Reference without_bias = op.reference(inputs.first(2), of);
  if (inputs.size() < 3) return without_bias;
  const Dims y = op.infer(descs_of(inputs.first(2)), of)[0].shape;
  return [without_bias, bias = inputs[2].read_all(), channels = y[1], plane = y[2] * y[3]](
             std::size_t output, ElementRange range, std::span<double> to) {
    without_bias(output, range, to);
    for (std::size_t i = 0; i < to.size(); ++i) {
      const std::int64_t element = range.first + static_cast<std::int64_t>(i);
      to[i] += bias[static_cast<std::size_t>(element / plane % channels)];
    }
  };
}

std::vector<GradientCall> gradient(const Problem& forward) {
  const Dims& weight = forward.inputs[1].shape;
  Attrs of_weight(find_op("conv2d_grad_weight").attrs);
  for (const char* name : {"stride", "padding", "dilation"}) {
    of_weight.put(name, forward.attrs.list(name));
  }
  of_weight.put("groups", forward.attrs.integer("groups"));
  of_weight.put("kernel_size", std::vector<std::int64_t>{weight[2], weight[3]});
  std::vector<GradientCall> calls = {
      {"conv2d", {{GradientArg::output_gradient, 0}, {GradientArg::input, 1}}, {0}},
      {"conv2d_grad_weight",
       {{GradientArg::input, 0}, {GradientArg::output_gradient, 0}},
       {1},
       of_weight}};
  if (forward.inputs.size() > 2) {
    calls.push_back({"bias_grad", {{GradientArg::output_gradient, 0}}, {2}});
  }
  return calls;
}

Traffic traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  const Dims& weight = problem.inputs[1].shape;
  traffic.operations =
      2.0 * double(problem.inputs[0].elements()) * double(weight[1] * weight[2] * weight[3]);
  return traffic;
}

std::vector<AttrSpec> attributes() {
  std::vector<AttrSpec> attrs = conv2d_attrs();
  attrs.push_back({"output_padding", std::vector<std::int64_t>{0},
                   "additional rows and columns beyond the windows; [h] or [h,w]",
                   [](const AttrValue& value) { return pair_problem(value, 0); }});
  return attrs;
}

Distribution weights(const Problem& problem) {
  const Dims& weight = problem.inputs[1].shape;
  if (weight.size() != 4) return unit_data(problem);
  const std::int64_t groups = problem.attrs.integer("groups");
  return weight_data(std::max<std::int64_t>(1, weight[0] / groups * weight[2] * weight[3]));
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "convolution",
    .summary = "y = x scattered through the weight, plus the bias of each channel",
    .source = "torch.nn.functional.conv_transpose2d",
    .known_as =
        {.calls = {{"convolution, _convolution, convolution_overrideable",
                    "input, weight, bias?",
                    "result|out",
                    {.attrs = "stride, padding, dilation, groups, output_padding",
                     .only = "transposed: 1",
                     .turn = 1}},
                   {"conv_transpose2d, conv_transpose2d_input, cudnn_convolution_transpose",
                    "input|self, weight, bias?",
                    "result|out",
                    {.attrs = "stride, padding, dilation, groups, output_padding"}},
                   {.names = "ConvolutionBackward, ConvolutionOverrideableBackward",
                    .rules = {.only = "transposed: 1",
                              .parts = {{"conv2d", "grads/grads_0, weight",
                                         "grad_inputs/grad_inputs_0",
                                         "stride, padding, dilation, groups"},
                                        {"conv2d_grad_weight", "input, grads/grads_0",
                                         "grad_inputs/grad_inputs_1",
                                         "stride, padding, dilation, groups, kernel_size: plane of "
                                         "weight"},
                                        {"bias_grad", "grads/grads_0",
                                         "grad_inputs/grad_inputs_2"}},
                              .turn = 1}}},
         .torch =
             "F.conv_transpose2d({0}, {1}, {2}, {stride}, {padding}, {output_padding}, {groups}, "
             "{dilation})"},
    .inputs = {{"input", "input", {}, unit_data},
               {"weight", "weight", {}, weights},
               {"bias", "bias", {}, unit_data}},
    .outputs = {{"result"}},
    .optional_inputs = 1,
    .attrs = attributes(),
    .dtypes = kArithmeticDTypes,
    .formats = {Format::NCHW, Format::ND},
    .infer = infer,
    .reference = reference,
    .traffic = traffic,
    .gradient = gradient,
    .inputs_like =
        [](const Dims& shape, const Attrs& attrs) {
          const std::int64_t c = shape.size() < 2 ? 1 : shape[1];
          return std::vector<Dims>{shape, {c, c / attrs.integer("groups"), 3, 3}, {c}};
        },
    .mixing = Mixing::sums,
}};

}  // namespace

Attrs transposed_attrs(const Dims& x, const Dims& weight, const Attrs& attrs) {
  Attrs of(find_op(kGradient).attrs);
  for (const char* name : {"stride", "padding", "dilation"}) of.put(name, attrs.list(name));
  of.put("groups", attrs.integer("groups"));
  if (x.size() != 4 || weight.size() != 4) return of;
  const Pair stride = pair_of(attrs, "stride"), padding = pair_of(attrs, "padding"),
             dilation = pair_of(attrs, "dilation"), more = pair_of(attrs, "output_padding");
  const auto extent = [](std::int64_t count, std::int64_t kernel, std::int64_t step,
                         std::int64_t around, std::int64_t apart, std::int64_t open) {
    return std::max<std::int64_t>(
        1, (count - 1) * step - 2 * around + apart * (kernel - 1) + 1 + open);
  };
  of.put("input_size", std::vector<std::int64_t>{
                           extent(x[2], weight[2], stride.h, padding.h, dilation.h, more.h),
                           extent(x[3], weight[3], stride.w, padding.w, dilation.w, more.w)});
  return of;
}

}  // namespace opbench
