#include "ops/elementwise.h"
#include "ops/promotion.h"

namespace opbench {
namespace {

Reference reference(std::span<const InputReader> inputs, const Attrs&) {
  return binary_reference(inputs[0], inputs[1], [](double a, double b) { return a + b; });
}

// The output's gradient itself, for both.
std::vector<GradientCall> gradient(const Problem&) {
  return {{"", {{GradientArg::output_gradient, 0}}, {0}},
          {"", {{GradientArg::output_gradient, 0}}, {1}}};
}

const RegisteredOp registered{{
    .name = "add",
    .ir_name = "add",
    .summary = "y = x1 + x2",
    .source = "torch.add; CANN Add",
    .inputs = {{"x1", "self"}, {"x2", "other"}},
    .outputs = {{"result"}},
    .dtypes = kArithmeticDTypes,
    .formats = kElementwiseFormats,
    .infer = [](std::span<const TensorDesc> in, const Attrs&) { return infer_promoted("add", in); },
    .reference = reference,
    .traffic = [](const Problem& problem) { return elementwise_traffic(problem, 1); },
    .gradient = gradient,
    .promotes = true,
}};

}  // namespace
}  // namespace opbench
