// y = f(x), element by element.
#include <algorithm>
#include <cmath>

#include "ops/elementwise_op.h"
#include "ops/gelu.h"

namespace opbench {
namespace {

double negative(double x) { return -x; }
double absolute(double x) { return std::fabs(x); }
double exponential(double x) { return std::exp(x); }
double logarithm(double x) { return std::log(x); }
double square_root(double x) { return std::sqrt(x); }
double inverse_root(double x) { return 1 / std::sqrt(x); }
double tangent(double x) { return std::tanh(x); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

auto clamp(const Attrs& attrs) {
  return [bounds = ClampBounds(attrs)](double x) {
    return std::isnan(x) ? x : std::min(std::max(x, bounds.min), bounds.max);
  };
}

auto power(const Attrs& attrs) {
  return [exponent = attrs.number("exponent")](double x) { return power_of(x, exponent); };
}

std::vector<double> clamp_corners(const Attrs& attrs, DType) {
  return {attrs.number("min"), attrs.number("max")};
}

std::vector<GradientCall> gradient_of_neg(const Problem&) {
  return {{"neg", {{GradientArg::output_gradient, 0}}}};
}

Distribution positive(const Problem&) { return {DistributionKind::uniform, 0, 4}; }

const RegisteredOp kOperators[] = {
    RegisteredOp(unary_op<"neg", negative, 1>(
        {.summary = "y = -x", .source = "torch.neg; CANN Neg", .gradient = gradient_of_neg})),
    RegisteredOp(unary_op<"abs", absolute, 1>({.summary = "y = |x|",
                                               .source = "torch.abs; CANN Abs",
                                               .gradient = grad_of_input<"abs_grad">})),
    RegisteredOp(unary_op<"clamp", clamp, 2>({.summary = "y = min(max(x, min), max)",
                                              .source = "torch.clamp; CANN ClipByValue",
                                              .attrs = clamp_attrs(),
                                              .gradient = grad_of_input<"clamp_grad">,
                                              .corner_points = clamp_corners})),
    RegisteredOp(unary_op<"exp", exponential, 8>({.summary = "y = e^x",
                                                  .source = "torch.exp; CANN Exp",
                                                  .gradient = grad_of_output<"mul">})),
    RegisteredOp(unary_op<"log", logarithm, 8>({.summary = "y = ln x",
                                                .source = "torch.log; CANN Log",
                                                .gradient = grad_of_input<"div">,
                                                .data = positive})),
    RegisteredOp(unary_op<"sqrt", square_root, 1>({.summary = "y = sqrt(x)",
                                                   .source = "torch.sqrt; CANN Sqrt",
                                                   .gradient = grad_of_output<"sqrt_grad">,
                                                   .data = positive})),
    RegisteredOp(unary_op<"rsqrt", inverse_root, 2>({.summary = "y = 1 / sqrt(x)",
                                                     .source = "torch.rsqrt; CANN Rsqrt",
                                                     .gradient = grad_of_output<"rsqrt_grad">,
                                                     .data = positive})),
    RegisteredOp(unary_op<"tanh", tangent, 10>({.summary = "y = tanh(x)",
                                                .source = "torch.tanh; CANN Tanh",
                                                .gradient = grad_of_output<"tanh_grad">})),
    RegisteredOp(unary_op<"sigmoid", sigmoid, 10>({.summary = "y = 1 / (1 + e^-x)",
                                                   .source = "torch.sigmoid; CANN Sigmoid",
                                                   .gradient = grad_of_output<"sigmoid_grad">})),
    RegisteredOp(unary_op<"pow", power, 8>({.summary = "y = x^exponent",
                                            .source = "torch.pow of a scalar; CANN Power",
                                            .attrs = exponent_attr(),
                                            .gradient = grad_of_input<"pow_grad">})),
    RegisteredOp(unary_op<"gelu", gelu_of, 20>(
        {.summary =
             "y = x (1 + erf(x/sqrt(2)))/2, or x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))/2",
         .source =
             "torch.nn.functional.gelu; Hendrycks and Gimpel 2016, arXiv:1606.08415; CANN Gelu",
         .attrs = gelu_attrs(),
         .gradient = grad_of_input<"gelu_grad">})),
};

}  // namespace
}  // namespace opbench
