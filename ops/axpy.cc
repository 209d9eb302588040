#include "ops/elementwise.h"

namespace opbench {
namespace {

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  return binary_reference(
      inputs[0], inputs[1],
      [alpha = attrs.number("alpha")](double x1, double x2) { return x1 + alpha * x2; });
}

// dx1 = dy, dx2 = alpha*dy.
std::vector<GradientCall> gradient(const Problem& forward) {
  Attrs scaled(find_op("muls").attrs);
  scaled.put("value", forward.attrs.number("alpha"));
  return {{"", {{GradientArg::output_gradient, 0}}, {0}},
          {"muls", {{GradientArg::output_gradient, 0}}, {1}, scaled}};
}

const RegisteredOp registered{{
    .name = "axpy",
    .ir_name = "add",
    .summary = "y = x1 + alpha*x2",
    .source = "torch.add with alpha; CANN Axpy, AxpyV2",
    .inputs = {{"x1", "self"}, {"x2", "other"}},
    .outputs = {{"result"}},
    .attrs = {{"alpha", 1.0, "factor of x2"}},
    .dtypes = kArithmeticDTypes,
    .formats = kElementwiseFormats,
    .infer = [](std::span<const TensorDesc> in,
                const Attrs&) { return infer_elementwise("axpy", in); },
    .reference = reference,
    .traffic = [](const Problem& problem) { return elementwise_traffic(problem, 2); },
    .gradient = gradient,
}};

}  // namespace
}  // namespace opbench
