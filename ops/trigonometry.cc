// Sine and cosine, for rotary and positional embeddings, and their gradients.
#include <cmath>

#include "ops/elementwise_op.h"

namespace opbench {
namespace {

double sine(double x) { return std::sin(x); }
double cosine(double x) { return std::cos(x); }
double sine_grad(double dy, double x) { return dy * std::cos(x); }
double cosine_grad(double dy, double x) { return -dy * std::sin(x); }

const RegisteredOp kOperators[] = {
    RegisteredOp(unary_op<"sin", sine, 12>(
        {.summary = "y = sin(x)",
         .source = "torch.sin",
         .known_as = {.calls = {{"sin", "self", "result|self|out"}}, .torch = "torch.sin({0})"},
         .gradient = grad_of_input<"sin_grad">,
         .takes_functions = true})),
    RegisteredOp(unary_grad_op<"sin_grad", sine_grad, 13>(
        "self", {.ir_name = "SinBackward",
                 .summary = "dx = dy cos(x)",
                 .source = "torch.sin backward: grad * self.cos()",
                 .known_as = {.calls = {{"SinBackward", "grads/grads_0, self",
                                         "grad_inputs/grad_inputs_0"}}},
                 .takes_functions = true})),
    RegisteredOp(unary_op<"cos", cosine, 12>(
        {.summary = "y = cos(x)",
         .source = "torch.cos",
         .known_as = {.calls = {{"cos", "self", "result|self|out"}}, .torch = "torch.cos({0})"},
         .gradient = grad_of_input<"cos_grad">,
         .takes_functions = true})),
    RegisteredOp(unary_grad_op<"cos_grad", cosine_grad, 13>(
        "self", {.ir_name = "CosBackward",
                 .summary = "dx = -dy sin(x)",
                 .source = "torch.cos backward: grad * -self.sin()",
                 .known_as = {.calls = {{"CosBackward", "grads/grads_0, self",
                                         "grad_inputs/grad_inputs_0"}}},
                 .takes_functions = true})),
};

}  // namespace
}  // namespace opbench
