// Sine and cosine, for rotary and positional embeddings, and their gradients.
#include <cmath>

#include "ops/elementwise_op.h"
#include "ops/terms.h"

namespace opbench {
namespace {

double sine(double x) { return std::sin(x); }
double cosine(double x) { return std::cos(x); }
double sine_grad(double dy, double x) { return dy * std::cos(x); }
double cosine_grad(double dy, double x) { return -dy * std::sin(x); }

// The remainder of a large argument has the rounding error of the argument.
Terms sine_terms(std::span<const InputReader> inputs, const Attrs&) {
  return {.magnitude = unary_reference(inputs[0], [](double x) {
            return std::fabs(std::sin(x)) + std::fabs(x * std::cos(x));
          })};
}
Terms cosine_terms(std::span<const InputReader> inputs, const Attrs&) {
  return {.magnitude = unary_reference(inputs[0], [](double x) {
            return std::fabs(std::cos(x)) + std::fabs(x * std::sin(x));
          })};
}
Terms sine_grad_terms(std::span<const InputReader> inputs, const Attrs&) {
  return {.magnitude = binary_reference(inputs[0], inputs[1], [](double dy, double x) {
            return std::fabs(dy) * (std::fabs(std::cos(x)) + std::fabs(x * std::sin(x)));
          })};
}
Terms cosine_grad_terms(std::span<const InputReader> inputs, const Attrs&) {
  return {.magnitude = binary_reference(inputs[0], inputs[1], [](double dy, double x) {
            return std::fabs(dy) * (std::fabs(std::sin(x)) + std::fabs(x * std::cos(x)));
          })};
}

const RegisteredOp kOperators[] = {
    RegisteredOp(unary_op<"sin", sine, 12>(
        {.summary = "y = sin(x)",
         .source = "torch.sin; CANN Sin",
         .known_as = {.calls = {{"sin, Sin", "self|x", "result|self|out|y"}},
                      .torch = "torch.sin({0})"},
         .gradient = grad_of_input<"sin_grad">,
         .terms = sine_terms,
         .holds_fp32 = true,
         .takes_functions = true})),
    RegisteredOp(unary_grad_op<"sin_grad", sine_grad, 13>(
        "self", {.ir_name = "SinBackward",
                 .summary = "dx = dy cos(x)",
                 .source = "torch.sin backward: grad * self.cos()",
                 .known_as = {.calls = {{"SinBackward", "grads/grads_0, self",
                                         "grad_inputs/grad_inputs_0"}}},
                 .terms = sine_grad_terms,
                 .holds_fp32 = true,
                 .takes_functions = true})),
    RegisteredOp(unary_op<"cos", cosine, 12>(
        {.summary = "y = cos(x)",
         .source = "torch.cos; CANN Cos",
         .known_as = {.calls = {{"cos, Cos", "self|x", "result|self|out|y"}},
                      .torch = "torch.cos({0})"},
         .gradient = grad_of_input<"cos_grad">,
         .terms = cosine_terms,
         .holds_fp32 = true,
         .takes_functions = true})),
    RegisteredOp(unary_grad_op<"cos_grad", cosine_grad, 13>(
        "self", {.ir_name = "CosBackward",
                 .summary = "dx = -dy sin(x)",
                 .source = "torch.cos backward: grad * -self.sin()",
                 .known_as = {.calls = {{"CosBackward", "grads/grads_0, self",
                                         "grad_inputs/grad_inputs_0"}}},
                 .terms = cosine_grad_terms,
                 .holds_fp32 = true,
                 .takes_functions = true})),
};

}  // namespace
}  // namespace opbench
