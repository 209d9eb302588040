#include "ops/elementwise.h"
#include "ops/promotion.h"

namespace opbench {
namespace {

Reference reference(std::span<const InputReader> inputs, const Attrs&) {
  return binary_reference(inputs[0], inputs[1], [](double a, double b) { return a * b; });
}

std::vector<GradientCall> gradient(const Problem&) {
  return {{"mul", {{GradientArg::output_gradient, 0}, {GradientArg::input, 1}}, {0}},
          {"mul", {{GradientArg::output_gradient, 0}, {GradientArg::input, 0}}, {1}}};
}

const RegisteredOp registered{{
    .name = "mul",
    .ir_name = "mul",
    .summary = "y = x1 * x2",
    .source = "torch.mul; CANN Mul",
    .inputs = {{"x1", "self"}, {"x2", "other"}},
    .outputs = {{"result"}},
    .dtypes = kArithmeticDTypes,
    .formats = kElementwiseFormats,
    .infer = [](std::span<const TensorDesc> in, const Attrs&) { return infer_promoted("mul", in); },
    .reference = reference,
    .traffic = [](const Problem& problem) { return elementwise_traffic(problem, 1); },
    .gradient = gradient,
    .promotes = true,
}};

}  // namespace
}  // namespace opbench
