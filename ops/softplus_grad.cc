#include <cmath>

#include "ops/elementwise.h"
#include "ops/elementwise_op.h"
#include "ops/terms.h"

namespace opbench {
namespace {

// dy * sigmoid(beta*x) if beta*x <= threshold, else dy.
double softplus_grad(double dy, double x, const SoftplusNumbers& p) {
  if (p.is_linear(x)) return dy;
  const double t = double(p.beta) * x;
  // The exponent is never positive, so nothing overflows on either side.
  const double e = std::exp(-std::fabs(t));
  const double slope = (t >= 0 ? 1.0 : e) / (1 + e);
  // Below exp(-103.97) the slope in fp32 is 0, and Inf*0 is NaN.
  return dy * (std::isinf(dy) ? double(static_cast<float>(slope)) : slope);
}

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  return binary_reference(inputs[0], inputs[1], [p = SoftplusNumbers(attrs)](double dy, double x) {
    return softplus_grad(dy, x, p);
  });
}

// dy is multiplied by exp(beta*x) before the division.
Terms terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  return Terms{
      .greatest =
          binary_reference(inputs[0], inputs[1], [p = SoftplusNumbers(attrs)](double dy, double x) {
            return p.is_linear(x) ? 0 : greatest_product({dy, std::exp(double(p.beta) * x)});
          })};
}

const RegisteredOp registered{{
    .name = "softplus_grad",
    .ir_name = "SoftplusBackward",
    .summary = "dx = dy * exp(beta*x)/(1 + exp(beta*x)) where beta*x <= threshold, else dy",
    .source = "torch.nn.functional.softplus backward; CANN SoftplusV2Grad",
    .known_as = {.calls = {{"SoftplusBackward, SoftplusV2Grad",
                            "grads/grads_0|grad_output, self",
                            "grad_inputs/grad_inputs_0|result",
                            {.attrs = "beta, threshold"}}},
                 .torch = "torch.ops.aten.softplus_backward({0}, {1}, {beta}, {threshold})"},
    .inputs = {{"grad_output", "grads/grads_0"}, {"self"}},
    .outputs = {{"grad_input", "grad_inputs/grad_inputs_0"}},
    .attrs = softplus_attrs(),
    .dtypes = kArithmeticDTypes,
    .formats = kPlainAnd5hd,
    .infer = [](std::span<const TensorDesc> in,
                const Attrs&) { return infer_elementwise("softplus_grad", in); },
    .reference = reference,
    .terms = terms,
    .traffic = [](const Problem& problem) { return elementwise_traffic(problem, 6); },
    .corner_points = softplus_corner_points,
    .takes_functions = true,
}};

}  // namespace
}  // namespace opbench
