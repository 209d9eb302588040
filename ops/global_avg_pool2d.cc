#include <fmt/format.h>

#include "ops/conv2d.h"
#include "ops/elementwise.h"
#include "ops/movement.h"
#include "ops/pool.h"
#include "tensor/error.h"

namespace opbench {
namespace {

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs&) {
  require_planes("global_avg_pool2d", "self", inputs[0]);
  const Dims& x = inputs[0].shape;
  if (x[2] * x[3] == 0) {
    throw Error(
        fmt::format("global_avg_pool2d: 'self' of shape {} has empty planes; a mean needs "
                    "elements",
                    to_string(x)));
  }
  return {with_shape(inputs[0], {x[0], x[1], 1, 1})};
}

Reference reference(std::span<const InputReader> inputs, const Attrs&) {
  const Dims& shape = inputs[0].desc().shape;
  return [x = inputs[0], elements = shape[2] * shape[3]](std::size_t, ElementRange range,
                                                         std::span<double> to) {
    std::vector<double> plane(static_cast<std::size_t>(elements));
    for (std::int64_t i = 0; i < range.count; ++i) {
      x.read({(range.first + i) * elements, elements}, plane);
      double sum = 0;
      for (const double value : plane) sum += value;
      to[static_cast<std::size_t>(i)] = sum / double(elements);
    }
  };
}

std::vector<GradientCall> gradient(const Problem& forward) {
  const Dims& x = forward.inputs[0].shape;
  const std::pair<std::string_view, AttrValue> size[] = {
      {"input_size", std::vector<std::int64_t>{x[2], x[3]}}};
  return {{"global_avg_pool2d_grad",
           {{GradientArg::output_gradient, 0}},
           {0},
           attrs_with("global_avg_pool2d_grad", size)}};
}

const RegisteredOp registered{{
    .name = "global_avg_pool2d",
    .ir_name = "adaptive_avg_pool2d",
    .summary = "y[n,c] = the mean of plane x[n,c]",
    .source = "torch.nn.functional.adaptive_avg_pool2d to 1x1; CANN ReduceMean",
    .known_as = {.calls = {{"GlobalAveragePool", "x|X", "y|Y"},
                           {"adaptive_avg_pool2d, _adaptive_avg_pool2d",
                            "self",
                            "result",
                            {.where = "output_size: 1 1"}}},
                 .profiled = {{"aten::_adaptive_avg_pool2d, aten::adaptive_avg_pool2d",
                               "self, =output_size"}},
                 .torch = "F.adaptive_avg_pool2d({0}, 1)"},
    .inputs = {{"self"}},
    .outputs = {{"result"}},
    .dtypes = kArithmeticDTypes,
    .formats = {Format::NCHW, Format::NC1HWC0},
    .infer = infer,
    .reference = reference,
    .traffic = input_traffic<1>,
    .gradient = gradient,
    .mixing = Mixing::sums,
}};

// The last planes of networks for 224x224 images are 7x7.
constexpr std::int64_t kUsualSide = 7;

std::vector<TensorDesc> infer_grad(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const TensorDesc& dy = inputs[0];
  require_planes("global_avg_pool2d_grad", "grad_output", dy);
  if (dy.shape[2] != 1 || dy.shape[3] != 1) {
    throw Error(
        fmt::format("global_avg_pool2d_grad: 'grad_output' has shape {}; allowed: [N, C, "
                    "1, 1]",
                    to_string(dy.shape)));
  }
  const Pair size = input_size_of(dy, attrs, kUsualSide);
  return {with_shape(dy, {dy.shape[0], dy.shape[1], size.h, size.w})};
}

Reference reference_grad(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Pair size = input_size_of(inputs[0].desc(), attrs, kUsualSide);
  return [dy = inputs[0].read_all(), elements = size.h * size.w](std::size_t, ElementRange range,
                                                                 std::span<double> to) {
    for (std::int64_t i = 0; i < range.count; ++i) {
      const auto plane = static_cast<std::size_t>((range.first + i) / elements);
      to[static_cast<std::size_t>(i)] = dy[plane] / double(elements);
    }
  };
}

const RegisteredOp registered_grad{{
    .name = "global_avg_pool2d_grad",
    .ir_name = "AdaptiveAvgPool2DBackward",
    .summary = "dx = dy/n over every plane of n elements",
    .source = "torch.nn.functional.adaptive_avg_pool2d to 1x1, backward",
    .known_as = {.not_recorded = "dumps hold it as the gradient of adaptive_avg_pool2d"},
    .inputs = {{"grad_output", "grads/grads_0"}},
    .outputs = {{"grad_input", "grad_inputs/grad_inputs_0"}},
    .attrs = {optional_pair_attr("input_size", "height and width of x; [] is 7x7")},
    .dtypes = kArithmeticDTypes,
    .formats = {Format::NCHW, Format::NC1HWC0},
    .infer = infer_grad,
    .reference = reference_grad,
    .traffic = input_traffic<1>,
    .inputs_like =
        [](const Dims& shape, const Attrs&) {
          return std::vector<Dims>{shape.size() == 4 ? Dims{shape[0], shape[1], 1, 1} : shape};
        },
}};

}  // namespace
}  // namespace opbench
