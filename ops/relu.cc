#include <cmath>

#include "ops/elementwise.h"

namespace opbench {
namespace {

// max(x, 0); NaN stays NaN as in the framework.
Reference reference(std::span<const InputReader> inputs, const Attrs&) {
  return unary_reference(inputs[0], [](double x) { return std::isnan(x) || x > 0 ? x : 0.0; });
}

const RegisteredOp registered{{
    .name = "relu",
    .ir_name = "relu",
    .summary = "y = max(x, 0)",
    .source = "torch.relu; CANN Relu",
    .known_as = {.calls = {{"relu, Relu", "self|x|X", "result|self|y|Y"},
                           {"ReLU", "x", "y", {.is_profiled_only = true}}},
                 .torch = "torch.relu({0})"},
    .inputs = {{"self"}},
    .outputs = {{"result"}},
    .dtypes = kArithmeticDTypes,
    .formats = kElementwiseFormats,
    .infer = [](std::span<const TensorDesc> in,
                const Attrs&) { return infer_elementwise("relu", in); },
    .reference = reference,
    .traffic = [](const Problem& problem) { return elementwise_traffic(problem, 1); },
    .gradient =
        [](const Problem&) {
          return std::vector<GradientCall>{
              {"relu_grad", {{GradientArg::output_gradient, 0}, {GradientArg::output, 0}}}};
        },
}};

}  // namespace
}  // namespace opbench
