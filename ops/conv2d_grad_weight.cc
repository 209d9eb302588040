#include <fmt/format.h>

#include "ops/conv2d.h"
#include "ops/elementwise.h"
#include "ops/format_rules.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "tensor/error.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "conv2d_grad_weight";

Dims weight_shape(const Dims& dy, const Dims& x, const Attrs& attrs) {
  if (dy.size() != 4 || x.size() != 4) {
    throw Error(
        fmt::format("{}: 'grad_output' has shape {} and 'self' {}; allowed: [N, M, OH, OW] "
                    "and [N, C, H, W]",
                    kName, to_string(dy), to_string(x)));
  }
  const Pair stride = pair_of(attrs, "stride"), padding = pair_of(attrs, "padding"),
             dilation = pair_of(attrs, "dilation");
  const bool is_stated = !attrs.list("kernel_size").empty();
  const Pair kernel = is_stated
                          ? pair_of(attrs, "kernel_size")
                          : Pair{largest_kernel(x[2], dy[2], stride.h, padding.h, dilation.h),
                                 largest_kernel(x[3], dy[3], stride.w, padding.w, dilation.w)};
  return {dy[1], x[1] / attrs.integer("groups"), std::max<std::int64_t>(kernel.h, 0),
          std::max<std::int64_t>(kernel.w, 0)};
}

// The gradient is stored like on the device: in FRACTAL_Z if the activations are in NC1HWC0.
std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Dims &dy = inputs[0].shape, &x = inputs[1].shape;
  const Dims shape = weight_shape(dy, x, attrs);
  const Conv2d conv = conv2d_shape(kName, x, shape, attrs);
  const Dims wanted = {conv.n, conv.m, conv.oh, conv.ow};
  if (dy != wanted) {
    throw Error(
        fmt::format("{}: 'grad_output' has shape {}; allowed: {}, the result of a convolution of "
                    "{} with a kernel of {}x{}",
                    kName, to_string(dy), to_string(wanted), to_string(x), shape[2], shape[3]));
  }
  if (inputs[0].format != inputs[1].format) {
    throw Error(
        fmt::format("{}: 'grad_output' is stored as {} and 'self' as {}; they must be the "
                    "same",
                    kName, name(inputs[0].format), name(inputs[1].format)));
  }
  TensorDesc weight = describe(inputs[0].dtype, shape);
  store_weight_beside(inputs[0], attrs, weight);
  return {weight};
}

// Adds the products of plane m of dy and plane c of x, shifted by the tap, to dw[m, c, i, j].
void add_image(const Conv2d& conv, std::int64_t m, const double* dy, const double* x, double* dw) {
  const std::int64_t step = conv.window.stride.w, first_c = m / conv.group_m() * conv.group_c();
  for (std::int64_t k = 0; k < conv.terms(); ++k) {
    const std::int64_t tap = k % conv.taps();
    const double* plane = x + (first_c + k / conv.taps()) * conv.h * conv.w;
    double sum = 0;
    for_each_tap_row(conv, tap / conv.window.kernel.w, tap % conv.window.kernel.w,
                     [&](auto oh, auto ih, auto begin, auto end, auto column) {
                       const double* from = plane + ih * conv.w + column;
                       for (std::int64_t i = begin; i < end; ++i, from += step) {
                         sum += dy[(m * conv.oh + oh) * conv.ow + i] * *from;
                       }
                     });
    dw[m * conv.terms() + k] += sum;
  }
}

// Computed for all elements at once: each of them needs every image.
Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Dims& x_shape = inputs[1].desc().shape;
  const Conv2d conv =
      conv2d_shape(kName, x_shape, weight_shape(inputs[0].desc().shape, x_shape, attrs), attrs);
  std::vector<double> dw(static_cast<std::size_t>(conv.m * conv.terms()));
  std::vector<double> x(static_cast<std::size_t>(conv.c * conv.h * conv.w));
  std::vector<double> dy(static_cast<std::size_t>(conv.m * conv.oh * conv.ow));
  for (std::int64_t n = 0; n < conv.n; ++n) {
    inputs[0].read({n * std::ssize(dy), std::ssize(dy)}, dy);
    inputs[1].read({n * std::ssize(x), std::ssize(x)}, x);
    parallel_blocks(conv.m,
                    [&](std::int64_t m) { add_image(conv, m, dy.data(), x.data(), dw.data()); });
  }
  return [dw = std::move(dw)](std::size_t, ElementRange range, std::span<double> to) {
    std::copy_n(dw.begin() + range.first, range.count, to.begin());
  };
}

std::vector<AttrSpec> attributes() {
  std::vector<AttrSpec> attrs = conv2d_attrs();
  attrs.push_back(optional_pair_attr(
      "kernel_size", "height and width of the weight; [] is the largest that gives 'grad_output'"));
  return attrs;
}

// The gradient of a 3x3 convolution of `shape`, and `shape`.
std::vector<Dims> inputs_like(const Dims& shape, const Attrs&) {
  if (shape.size() != 4) return {shape, shape};
  return {{shape[0], shape[1], std::max<std::int64_t>(shape[2] - 2, 0),
           std::max<std::int64_t>(shape[3] - 2, 0)},
          shape};
}

// An element of dw is a sum over all places of dy.
Distribution gradients(const Problem& problem) {
  const Dims& dy = problem.inputs[0].shape;
  return weight_data(dy[0] * dy[2] * dy[3]);
}

std::optional<FormatChoice> output_format(const FormatQuery& query) {
  const bool is_grouped = query.problem.attrs.integer("groups") > 1;
  return conv2d_output(query, {is_grouped ? Format::NCHW : Format::FRACTAL_Z,
                               "conv2d: the weight's gradient is NCHW where it has groups"});
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "ConvolutionBackward",
    .summary = "dw[m,c] = the sum over n of x[n,c] correlated with dy[n,m]",
    .source = "torch.nn.functional.conv2d backward; CANN Conv2DBackpropFilter",
    .known_as = {.calls = {{"Conv2DBackpropFilter, Conv2DBackpropFilterD",
                            "out_backprop, x",
                            "y",
                            {.attrs = "stride: strides, padding: pads, dilation: dilations, "
                                      "groups, kernel_size: plane of y"}},
                           {"DepthwiseConv2DBackpropFilter, DepthwiseConv2DBackpropFilterD",
                            "out_backprop, x",
                            "y",
                            {.attrs = "stride: strides, padding: pads, dilation: dilations, "
                                      "groups, kernel_size: plane of y",
                             .is_profiled_only = true}},
                           {"convolution_backward_weight",
                            "grad_output, input",
                            "result",
                            {.attrs = "stride: stride|strides, padding: padding|pads, dilation: "
                                      "dilation|dilations, groups, kernel_size: plane of weight",
                             .is_profiled_only = true}}},
                 .profiled = {{"Conv2DBackpropFilter", "x, =filter_size, out_backprop", "y"},
                              {"Conv2DBackpropFilterD", "x, out_backprop", "y"},
                              {"DepthwiseConv2DBackpropFilter", "x, =filter_size, out_backprop",
                               "y"},
                              {"DepthwiseConv2DBackpropFilterD", "x, out_backprop", "y"},
                              {.names = "aten::convolution_backward.weight",
                               .inputs = "grad_output, input, weight, , =stride, =padding, "
                                         "=dilation, =transposed, , =groups",
                               .outputs = "result",
                               .gives = "weight"}},
                 .torch = "torch.nn.grad.conv2d_weight({1}, {shape}, {0}, {stride}, {padding}, "
                          "{dilation}, {groups})",
                 .likely = likely_of_conv2d_grad_weight},
    .inputs = {{"grad_output", "grads/grads_0", {}, gradients}, {"self", "self", {}, unit_data}},
    .outputs = {{"grad_weight", "grad_inputs/grad_inputs_1"}},
    .attrs = attributes(),
    .dtypes = kArithmeticDTypes,
    .formats = kConv2dFormats,
    .infer = infer,
    .reference = reference,
    .traffic = conv2d_traffic,
    .inputs_like = inputs_like,
    .mixing = Mixing::sums,
    .context = {.uses_cube = true,
                .input_format = cube_images,
                .output_format = output_format,
                .keeps_parameters = keeps_grouped_weight},
}};

}  // namespace
}  // namespace opbench
