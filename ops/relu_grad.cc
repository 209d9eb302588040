#include "ops/elementwise.h"

namespace opbench {
namespace {

// 0 if features <= 0, else gradients. NaN features pass the gradient, in the framework and on 910B.
Reference reference(std::span<const InputReader> inputs, const Attrs&) {
  return binary_reference(inputs[0], inputs[1], [](double gradient, double feature) {
    return feature <= 0 ? 0.0 : gradient;
  });
}

std::optional<FormatChoice> input_format(const FormatQuery& query) {
  const Format gradients = query.given[0].format, features = query.given[1].format;
  const bool is_cast =
      query.rules.relu_grad_cast && gradients == Format::NCHW && features == Format::NC1HWC0;
  if (!is_cast) return std::nullopt;
  return FormatChoice{Format::NC1HWC0,
                      "relu_grad: the gradient is cast to the forward output's NC1HWC0"};
}

std::optional<FormatChoice> output_format(const FormatQuery& query) {
  return FormatChoice{query.given[1].format, "relu_grad: the output follows the forward output"};
}

const RegisteredOp registered{{
    .name = "relu_grad",
    .ir_name = "ReluBackward0",
    .summary = "dx = 0 where features <= 0, else gradients",
    .source = "CANN ReluGrad; torch threshold_backward with threshold 0",
    .known_as =
        {.calls =
             {{"ReluBackward, ReluGrad", "grads/grads_0|gradients, result|self|features",
               "grad_inputs/grad_inputs_0|backprops"},
              {"ThresholdBackward",
               "grads/grads_0, result|self",
               "grad_inputs/grad_inputs_0",
               {.where = "threshold: 0"}},
              {"threshold_backward", "grad_output, self", "result", {.where = "threshold: 0"}}},
         .profiled = {{"aten::threshold_backward", "grad_output, self, =threshold"}},
         .torch = "torch.where({1} <= 0, torch.zeros_like({0}), {0})"},
    .inputs = {{"gradients", "grads/grads_0"}, {"features", "result"}},
    .outputs = {{"backprops", "grad_inputs/grad_inputs_0"}},
    .dtypes = kArithmeticDTypes,
    .formats = kElementwiseFormats,
    .infer = [](std::span<const TensorDesc> in,
                const Attrs&) { return infer_elementwise("relu_grad", in); },
    .reference = reference,
    .traffic = [](const Problem& problem) { return elementwise_traffic(problem, 1); },
    .context = {.input_format = input_format, .output_format = output_format},
}};

}  // namespace
}  // namespace opbench
