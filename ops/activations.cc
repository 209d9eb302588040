// Element-wise activations of small networks, and their gradients.
#include <algorithm>
#include <cmath>

#include "ops/elementwise_op.h"
#include "ops/terms.h"

namespace opbench {
namespace {

// std::max and std::min in this order keep NaN.
double relu6(double x) { return std::min(std::max(x, 0.0), 6.0); }

double silu(double x) { return x / (1 + std::exp(-x)); }
double silu_grad(double dy, double x) {
  const double s = sigmoid(x);
  return dy * s * (1 + x * (1 - s));
}

double hardsigmoid(double x) { return relu6(x + 3) / 6; }
// PyTorch computes 1/6 in fp32, also for fp64, on CPU and GPU.
double hardsigmoid_grad(double dy, double x) {
  constexpr float kSixth = 1.0f / 6.0f;
  return x > -3 && x < 3 ? dy * double(kSixth) : 0;
}

double hardswish(double x) { return x * relu6(x + 3) / 6; }
double hardswish_grad(double dy, double x) {
  if (x < -3) return 0;
  return x >= 3 ? dy : dy * (x / 3 + 0.5);
}

auto leaky_relu(const Attrs& attrs) {
  return [slope = attrs.number("negative_slope")](double x) { return x > 0 ? x : x * slope; };
}
auto leaky_relu_grad(const Attrs& attrs) {
  return [slope = attrs.number("negative_slope")](double dy, double x) {
    return x > 0 ? dy : dy * slope;
  };
}

auto hardtanh_grad(const Attrs& attrs) {
  return [bounds = ClampBounds(attrs)](double dy, double x) {
    return x <= bounds.min || x >= bounds.max ? 0.0 : dy;
  };
}

std::vector<AttrSpec> slope_attr() {
  return {{"negative_slope", 0.01, "factor of negative elements"}};
}

std::vector<double> corners_at_three(const Attrs&, DType) { return {-3, 3}; }

// The terms 1 and x (1 - s) cancel around x = -1.28.
Terms silu_grad_terms(std::span<const InputReader> inputs, const Attrs&) {
  return {.magnitude = binary_reference(inputs[0], inputs[1], [](double dy, double x) {
            const double s = sigmoid(x);
            return std::fabs(dy) * s * (1 + std::fabs(x) * (1 - s));
          })};
}

// x is multiplied by the sum with 3 before the division by 6.
Terms hardswish_terms(std::span<const InputReader> inputs, const Attrs&) {
  return {.greatest = unary_reference(inputs[0], [](double x) {
            return greatest_product({x, 6.0});
          })};
}

// The terms x/3 and 1/2 cancel around x = -1.5.
Terms hardswish_grad_terms(std::span<const InputReader> inputs, const Attrs&) {
  return {.magnitude = binary_reference(inputs[0], inputs[1], [](double dy, double x) {
            return std::fabs(x) > 3 ? std::fabs(dy) : std::fabs(dy) * (std::fabs(x) / 3 + 0.5);
          })};
}

// The calls of a gradient: the node of autograd and the operator that it calls.
KnownAs backward_of(std::string_view names, std::string_view inputs, std::string_view attrs = {}) {
  return {.calls = {{names, inputs, "grad_inputs/grad_inputs_0|result", {.attrs = attrs}}}};
}

const RegisteredOp kOperators[] = {
    RegisteredOp(unary_op<"silu", silu, 10>(
        {.summary = "y = x / (1 + e^-x)",
         .source = "torch.nn.functional.silu; Elfwing et al. 2017, arXiv:1702.03118",
         .known_as = {.calls = {{"silu", "self", "result|self|out"}}, .torch = "F.silu({0})"},
         .gradient = grad_of_input<"silu_grad">,
         .takes_functions = true})),
    RegisteredOp(unary_grad_op<"silu_grad", silu_grad, 14>(
        "self",
        {.ir_name = "SiluBackward",
         .summary = "dx = dy s (1 + x (1 - s)), s = sigmoid(x)",
         .source = "torch.nn.functional.silu backward",
         .known_as = backward_of("SiluBackward, silu_backward", "grads/grads_0|grad_output, self"),
         .terms = silu_grad_terms,
         .takes_functions = true})),
    RegisteredOp(unary_op<"hardsigmoid", hardsigmoid, 4>(
        {.summary = "y = min(max(x + 3, 0), 6) / 6",
         .source = "torch.nn.functional.hardsigmoid",
         .known_as = {.calls = {{"hardsigmoid", "self", "result|self|out"}},
                      .torch = "F.hardsigmoid({0})"},
         .gradient = grad_of_input<"hardsigmoid_grad">,
         .corner_points = corners_at_three})),
    RegisteredOp(unary_grad_op<"hardsigmoid_grad", hardsigmoid_grad, 3>(
        "self", {.ir_name = "HardsigmoidBackward",
                 .summary = "dx = dy/6 where -3 < x < 3, else 0",
                 .source = "torch.nn.functional.hardsigmoid backward: grad * (1.0f / 6.0f)",
                 .known_as = backward_of("HardsigmoidBackward, hardsigmoid_backward",
                                         "grads/grads_0|grad_output, self"),
                 .corner_points = corners_at_three})),
    RegisteredOp(unary_op<"hardswish", hardswish, 5>(
        {.summary = "y = x min(max(x + 3, 0), 6) / 6",
         .source = "torch.nn.functional.hardswish; Howard et al. 2019, arXiv:1905.02244",
         .known_as = {.calls = {{"hardswish", "self", "result|self|out"}},
                      .torch = "F.hardswish({0})"},
         .gradient = grad_of_input<"hardswish_grad">,
         .corner_points = corners_at_three,
         .terms = hardswish_terms})),
    RegisteredOp(unary_grad_op<"hardswish_grad", hardswish_grad, 5>(
        "self", {.ir_name = "HardswishBackward",
                 .summary = "dx = 0 where x < -3, dy where x >= 3, else dy (x/3 + 1/2)",
                 .source = "torch.nn.functional.hardswish backward",
                 .known_as = backward_of("HardswishBackward, hardswish_backward",
                                         "grads/grads_0|grad_output, self"),
                 .corner_points = corners_at_three,
                 .terms = hardswish_grad_terms})),
    RegisteredOp(unary_op<"leaky_relu", leaky_relu, 2>(
        {.summary = "y = x where x > 0, else negative_slope x",
         .source = "torch.nn.functional.leaky_relu",
         .known_as =
             {.calls = {{"leaky_relu", "self", "result|self|out", {.attrs = "negative_slope"}}},
              .torch = "F.leaky_relu({0}, {negative_slope})"},
         .attrs = slope_attr(),
         .gradient = grad_of_input<"leaky_relu_grad">})),
    RegisteredOp(unary_grad_op<"leaky_relu_grad", leaky_relu_grad, 2>(
        "self",
        {.ir_name = "LeakyReluBackward",
         .summary = "dx = dy where x > 0, else negative_slope dy",
         .source = "torch.nn.functional.leaky_relu backward",
         .known_as = backward_of("LeakyReluBackward, leaky_relu_backward",
                                 "grads/grads_0|grad_output, self|result", "negative_slope"),
         .attrs = slope_attr()})),
    RegisteredOp(unary_grad_op<"hardtanh_grad", hardtanh_grad, 2>(
        "self", {.ir_name = "HardtanhBackward",
                 .summary = "dx = 0 where x <= min or x >= max, else dy",
                 .source = "torch.nn.functional.hardtanh backward",
                 .known_as = backward_of("HardtanhBackward, hardtanh_backward",
                                         "grads/grads_0|grad_output, self|result",
                                         "min: min_val, max: max_val"),
                 .attrs = clamp_attrs(),
                 .corner_points = clamp_corners})),
};

}  // namespace
}  // namespace opbench
