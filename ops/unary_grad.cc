// dx = f(dy, saved), where autograd saves the input or the result of the forward operator.
#include <cmath>
#include <limits>
#include <numbers>

#include "ops/elementwise_op.h"
#include "ops/terms.h"

namespace opbench {
namespace {

double abs_grad(double dy, double x) { return dy * ((x > 0) - (x < 0)); }
double sqrt_grad(double dy, double y) { return dy / (2 * y); }
double rsqrt_grad(double dy, double y) { return -0.5 * dy * y * y * y; }
double tanh_grad(double dy, double y) { return dy * (1 - y) * (1 + y); }
double sigmoid_grad(double dy, double y) { return dy * (1 - y) * y; }

auto clamp_grad(const Attrs& attrs) {
  return [bounds = ClampBounds(attrs)](double dy, double x) {
    return x >= bounds.min && x <= bounds.max ? dy : 0.0;
  };
}

// With an exponent of 0 the result is constant: the gradient is 0, also if x is NaN.
auto pow_grad(const Attrs& attrs) {
  return [exponent = attrs.number("exponent")](double dy, double x) {
    return exponent == 0 ? 0 : dy * exponent * power_of(x, exponent - 1);
  };
}

// Results of the forward operators.
Distribution positive(const Problem&) { return {DistributionKind::uniform, 0.125, 2}; }
Distribution in_unit(const Problem&) { return {DistributionKind::uniform, 0, 1}; }
Distribution around_zero(const Problem&) { return {DistributionKind::uniform, -1, 1}; }

// A saved result outside the range of tanh or sigmoid has large factors. They may be multiplied in
// any order.
Terms tanh_grad_terms(std::span<const InputReader> inputs, const Attrs&) {
  return Terms{.greatest = binary_reference(inputs[0], inputs[1], [](double dy, double y) {
                 return greatest_product({dy, 1 - y, 1 + y});
               })};
}

Terms sigmoid_grad_terms(std::span<const InputReader> inputs, const Attrs&) {
  return Terms{.greatest = binary_reference(inputs[0], inputs[1], [](double dy, double y) {
                 return greatest_product({dy, 1 - y, y});
               })};
}

// P(x) = (1 + erf(x/sqrt 2))/2 and x p(x) cancel around x = -0.75. The argument of tanh has the
// cube of x; if it overflows, the slope that it is multiplied with is 0.
Terms gelu_grad_terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  const bool is_cubic = attrs.word("approximate") == "tanh";
  const double epsilon = epsilon_of(inputs[1].desc().dtype);
  const auto rounding = [=](double dy, double x) {
    const double density = std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
    const double twice_p = 1 + std::fabs(std::erf(x / std::numbers::sqrt2));
    const double cancelled = is_cubic && std::isfinite(x) ? gelu_cancellation(x, epsilon) : 0;
    return std::fabs(dy) * (twice_p / 2 + std::fabs(x) * density + cancelled);
  };
  const auto greatest = [=](double dy, double x) {
    // The slope of a large negative x underflows to 0, and 0 times Inf is NaN.
    if (std::isinf(dy) && std::isfinite(x) && x < -10) return std::numeric_limits<double>::max();
    return is_cubic ? greatest_product({dy, x, x, x}) : 0;
  };
  return Terms{.magnitude = binary_reference(inputs[0], inputs[1], rounding),
               .greatest = binary_reference(inputs[0], inputs[1], greatest)};
}

// The factors may be multiplied in any order.
Terms pow_grad_terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  const auto greatest = [exponent = attrs.number("exponent")](double dy, double x) {
    return greatest_product({dy, exponent, std::pow(x, exponent - 1)});
  };
  return Terms{.greatest = binary_reference(inputs[0], inputs[1], greatest)};
}

const RegisteredOp kOperators[] = {
    RegisteredOp(unary_grad_op<"abs_grad", abs_grad, 2>(
        "self", {.ir_name = "AbsBackward",
                 .summary = "dx = dy sign(x); sign(0) and sign(NaN) are 0",
                 .source = "torch.abs backward: grad * self.sgn(); CANN AbsGrad",
                 .known_as = {.calls = {{"AbsBackward", "grads/grads_0, self",
                                         "grad_inputs/grad_inputs_0"}}}})),
    RegisteredOp(unary_grad_op<"clamp_grad", clamp_grad, 2>(
        "self", {.ir_name = "ClampBackward",
                 .summary = "dx = dy where min <= x <= max, else 0",
                 .source = "torch.clamp backward",
                 .known_as = {.calls = {{"ClampBackward, ClampMinBackward, ClampMaxBackward",
                                         "grads/grads_0, self",
                                         "grad_inputs/grad_inputs_0",
                                         {.attrs = "min, max"}},
                                        {"Relu6Grad",
                                         "gradients, features",
                                         "backprops",
                                         {.attrs = "min: =0, max: =6", .is_profiled_only = true}}}},
                 .attrs = clamp_attrs(),
                 .corner_points = clamp_corners})),
    RegisteredOp(unary_grad_op<"sqrt_grad", sqrt_grad, 2>(
        "result", {.ir_name = "SqrtBackward",
                   .summary = "dx = dy / (2 y), y = sqrt(x)",
                   .source = "torch.sqrt backward: grad / (2 * result); CANN SqrtGrad",
                   .known_as = {.calls = {{"SqrtBackward, SqrtGrad", "grads/grads_0|dy, result|y",
                                           "grad_inputs/grad_inputs_0|z"}}},
                   .data = positive})),
    RegisteredOp(unary_grad_op<"rsqrt_grad", rsqrt_grad, 4>(
        "result", {.ir_name = "RsqrtBackward",
                   .summary = "dx = -dy y^3 / 2, y = 1 / sqrt(x)",
                   .source = "torch.rsqrt backward: -0.5 * grad * result.pow(3); CANN RsqrtGrad",
                   .known_as = {.calls = {{"RsqrtBackward, RsqrtGrad", "grads/grads_0|dy, result|y",
                                           "grad_inputs/grad_inputs_0|z"}}},
                   .data = positive})),
    RegisteredOp(unary_grad_op<"tanh_grad", tanh_grad, 4>(
        "result", {.ir_name = "TanhBackward",
                   .summary = "dx = dy (1 - y^2), y = tanh(x)",
                   .source = "torch.tanh backward: grad * (1 - result^2); CANN TanhGrad",
                   .known_as = {.calls = {{"TanhBackward, TanhGrad, tanh_backward",
                                           "grads/grads_0|dy|grad_output, result|y|output",
                                           "grad_inputs/grad_inputs_0|z|result"}},
                                .torch = "{0} * (1 - {1} * {1})"},
                   .data = around_zero,
                   .terms = tanh_grad_terms})),
    RegisteredOp(unary_grad_op<"sigmoid_grad", sigmoid_grad, 3>(
        "result",
        {.ir_name = "SigmoidBackward",
         .summary = "dx = dy (1 - y) y, y = sigmoid(x)",
         .source = "torch.sigmoid backward: grad * (1 - result) * result; CANN SigmoidGrad",
         .known_as = {.calls = {{"SigmoidBackward, SigmoidGrad, sigmoid_backward",
                                 "grads/grads_0|dy|grad_output, result|y|output",
                                 "grad_inputs/grad_inputs_0|z|result"}},
                      .torch = "{0} * {1} * (1 - {1})"},
         .data = in_unit,
         .terms = sigmoid_grad_terms})),
    RegisteredOp(unary_grad_op<"pow_grad", pow_grad, 9>(
        "self", {.ir_name = "PowBackward",
                 .summary = "dx = dy exponent x^(exponent - 1), 0 for an exponent of 0",
                 .source = "torch.pow backward: grad * (exponent * self.pow(exponent - 1))",
                 .known_as = {.calls = {{"PowBackward",
                                         "grads/grads_0, self",
                                         "grad_inputs/grad_inputs_0",
                                         {.attrs = "exponent", .needs = "exponent"}}}},
                 .attrs = exponent_attr(),
                 .terms = pow_grad_terms,
                 .takes_functions = true})),
    RegisteredOp(unary_grad_op<"gelu_grad", gelu_grad_of, 25>(
        "self",
        {.ir_name = "GeluBackward",
         .summary = "dx = dy (P(x) + x p(x)), P the normal distribution and p its density; "
                    "or of the form with tanh",
         .source = "torch.nn.functional.gelu backward; CANN GeluGrad",
         .known_as = {.calls = {{"GeluBackward, NpuGeluBackward, gelu_backward, npu_gelu_backward",
                                 "grads/grads_0|grad|grad_output, self",
                                 "grad_inputs/grad_inputs_0|result",
                                 {.attrs = "approximate: approximate as none|tanh",
                                  .needs = "approximate"}},
                                {"GeluBackward, gelu_backward",
                                 "grads/grads_0|grad|grad_output, self",
                                 "grad_inputs/grad_inputs_0|result",
                                 {.attrs = "approximate: =tanh", .devices = "NPU"}},
                                {"GeluBackward, gelu_backward",
                                 "grads/grads_0|grad|grad_output, self",
                                 "grad_inputs/grad_inputs_0|result"},
                                {"GeluGrad",
                                 "dy, x",
                                 "z",
                                 {.attrs = "approximate: =tanh", .is_profiled_only = true}},
                                {"GeluGradV2",
                                 "dy, x",
                                 "z",
                                 {.attrs = "approximate: approximate as none|tanh",
                                  .is_profiled_only = true}}}},
         .attrs = gelu_attrs(),
         .terms = gelu_grad_terms,
         .takes_functions = true})),
};

}  // namespace
}  // namespace opbench
