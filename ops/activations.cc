// Element-wise activations, and their gradients.
#include "ops/activations.h"

#include <algorithm>
#include <cmath>
#include <numbers>

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

double fast_gelu(double x) { return x * sigmoid(1.702 * x); }
double fast_gelu_grad(double dy, double x) {
  const double z = 1.702 * x, s = sigmoid(z);
  return dy * s * (1 + z * (1 - s));
}

double tanh_of_softplus(double x) { return std::tanh(std::log1p(std::exp(x))); }
double mish(double x) { return x * tanh_of_softplus(x); }
double mish_grad(double dy, double x) {
  const double t = tanh_of_softplus(x);
  return dy * (t + x * sigmoid(x) * (1 - t * t));
}

double error_function(double x) { return std::erf(x); }
double erf_grad(double dy, double x) {
  return dy * 2 * std::numbers::inv_sqrtpi * std::exp(-x * x);
}

auto elu(const Attrs& attrs) {
  return [a = attrs.number("alpha"), scale = attrs.number("scale"),
          in = attrs.number("input_scale")](double x) {
    return x > 0 ? scale * x : a * scale * std::expm1(in * x);
  };
}
auto elu_grad(const Attrs& attrs) {
  return [a = attrs.number("alpha"), scale = attrs.number("scale"),
          in = attrs.number("input_scale")](double dy, double x) {
    return x > 0 ? dy * scale : dy * in * a * scale * std::exp(in * x);
  };
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
  return x > 3 ? dy : dy * (x / 3 + 0.5);
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

// The exponential has an error in proportion to its argument z = 1.702 x.
Terms fast_gelu_grad_terms(std::span<const InputReader> inputs, const Attrs&) {
  return {.magnitude = binary_reference(inputs[0], inputs[1], [](double dy, double x) {
            const double z = 1.702 * std::fabs(x), s = sigmoid(1.702 * x), rest = 1 - s;
            return std::fabs(dy) * s * (1 + z * rest + z * rest * (2 + z));
          })};
}

// t = tanh(softplus(x)) and 1 - t^2 have the error of an exponential, and 1 and t^2 cancel. Beyond
// 10 t is 1 in fp32.
Terms mish_grad_terms(std::span<const InputReader> inputs, const Attrs&) {
  return {.magnitude = binary_reference(inputs[0], inputs[1], [](double dy, double x) {
            const double t = tanh_of_softplus(x), s = sigmoid(x), size = std::fabs(x);
            const double turn =
                size * s * (1 - t * t) * (1 + size) + std::fmin(size, 10) * s * t * t;
            return std::fabs(dy) * (t * (1 + std::fmax(-x, 0)) + turn);
          })};
}

// e^x and 1 cancel around 0.
Terms elu_terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  const double factor = attrs.number("alpha") * attrs.number("scale");
  return {
      .magnitude = unary_reference(inputs[0], [factor, in = attrs.number("input_scale")](double x) {
        return x > 0 ? 0 : std::fabs(factor) * (std::exp(in * x) * (1 + std::fabs(in * x)) + 1);
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
         .known_as = {.calls = {{"silu, npu_silu, Swish", "self|x", "result|self|out|y"}},
                      .torch = "F.silu({0})"},
         .gradient = grad_of_input<"silu_grad">,
         .takes_functions = true})),
    RegisteredOp(unary_grad_op<"silu_grad", silu_grad, 14>(
        "self", {.ir_name = "SiluBackward",
                 .summary = "dx = dy s (1 + x (1 - s)), s = sigmoid(x)",
                 .source = "torch.nn.functional.silu backward",
                 .known_as = backward_of("SiluBackward, NpuSiluBackward, silu_backward, SiluGrad",
                                         "grads/grads_0|grad_output|dy, self|x"),
                 .terms = silu_grad_terms,
                 .takes_functions = true})),
    RegisteredOp(unary_op<"fast_gelu", fast_gelu, 11>(
        {.summary = "y = x sigmoid(1.702 x)",
         .source = "Hendrycks and Gimpel 2016, arXiv:1606.08415; CANN FastGelu",
         .known_as = {.calls = {{"npu_fast_gelu, fast_gelu, FastGelu", "self|x", "result|out|y"}},
                      .torch = "{0} * torch.sigmoid(1.702 * {0})"},
         .gradient = grad_of_input<"fast_gelu_grad">,
         .takes_functions = true})),
    RegisteredOp(unary_grad_op<"fast_gelu_grad", fast_gelu_grad, 15>(
        "self",
        {.ir_name = "NpuFastGeluBackward",
         .summary = "dx = dy s (1 + 1.702 x (1 - s)), s = sigmoid(1.702 x)",
         .source = "CANN FastGeluGrad",
         .known_as = backward_of("NpuFastGeluBackward, npu_fast_gelu_backward, FastGeluGrad",
                                 "grads/grads_0|grad|dy, self|x"),
         .terms = fast_gelu_grad_terms,
         .takes_functions = true})),
    RegisteredOp(unary_op<"mish", mish, 14>(
        {.summary = "y = x tanh(log(1 + e^x))",
         .source = "torch.nn.functional.mish; Misra 2019, arXiv:1908.08681; CANN Mish",
         .known_as = {.calls = {{"mish, npu_mish, Mish", "self|x", "result|self|out|y"}},
                      .torch = "F.mish({0})"},
         .gradient = grad_of_input<"mish_grad">,
         .takes_functions = true})),
    RegisteredOp(unary_grad_op<"mish_grad", mish_grad, 20>(
        "self", {.ir_name = "MishBackward",
                 .summary = "dx = dy (t + x sigmoid(x) (1 - t^2)), t = tanh(log(1 + e^x))",
                 .source = "torch.nn.functional.mish backward; CANN MishGrad",
                 .known_as = backward_of("MishBackward, NpuMishBackward, mish_backward, MishGrad",
                                         "grads/grads_0|grad_output|grad, self|x"),
                 .terms = mish_grad_terms,
                 .takes_functions = true})),
    RegisteredOp(unary_op<"erf", error_function, 16>(
        {.summary = "y = 2/sqrt(pi) times the integral of e^(-t^2) from 0 to x",
         .source = "torch.erf; CANN Erf",
         .known_as = {.calls = {{"erf, Erf", "self|x", "result|self|out|y"}},
                      .torch = "torch.erf({0})"},
         .gradient = grad_of_input<"erf_grad">,
         .takes_functions = true})),
    RegisteredOp(unary_grad_op<"erf_grad", erf_grad, 11>(
        "self", {.ir_name = "ErfBackward",
                 .summary = "dx = dy 2/sqrt(pi) e^(-x^2)",
                 .source = "torch.erf backward",
                 .known_as = backward_of("ErfBackward", "grads/grads_0, self"),
                 .takes_functions = true})),
    RegisteredOp(unary_op<"elu", elu, 9>(
        {.summary = "y = scale x where x > 0, else scale alpha (e^(input_scale x) - 1)",
         .source = "torch.nn.functional.elu; Clevert et al. 2015, arXiv:1511.07289; CANN Elu",
         .known_as = {.calls = {{"elu, Elu",
                                 "self|x",
                                 "result|self|out|y",
                                 {.attrs = "alpha, scale, input_scale"}},
                                {"selu, Selu",
                                 "self|x",
                                 "result|self|out|y",
                                 {.attrs = "alpha: =1.6732632423543772, "
                                           "scale: =1.0507009873554805"}}},
                      .torch = "torch.ops.aten.elu({0}, {alpha}, {scale}, {input_scale})"},
         .attrs = elu_attrs(),
         .gradient = grad_of_input<"elu_grad">,
         .terms = elu_terms,
         .holds_fp32 = true,
         .takes_functions = true})),
    RegisteredOp(unary_grad_op<"elu_grad", elu_grad, 10>(
        "self",
        {.ir_name = "EluBackward",
         .summary = "dx = scale dy where x > 0, else dy scale alpha input_scale e^(input_scale x)",
         .source = "torch.nn.functional.elu backward",
         .known_as = {.calls = {{"EluBackward, elu_backward",
                                 "grads/grads_0|grad_output, self_or_result|self",
                                 "grad_inputs/grad_inputs_0|result",
                                 {.attrs = "alpha, scale, input_scale", .where = "is_result: 0"}}}},
         .attrs = elu_attrs(),
         .takes_functions = true})),
    RegisteredOp(unary_op<"hardsigmoid", hardsigmoid, 4>(
        {.summary = "y = min(max(x + 3, 0), 6) / 6",
         .source = "torch.nn.functional.hardsigmoid; CANN HardSigmoid",
         .known_as = {.calls = {{"hardsigmoid, HardSigmoid", "self|input_x",
                                 "result|self|out|output_y"}},
                      .torch = "F.hardsigmoid({0})"},
         .gradient = grad_of_input<"hardsigmoid_grad">,
         .corner_points = corners_at_three})),
    RegisteredOp(unary_grad_op<"hardsigmoid_grad", hardsigmoid_grad, 3>(
        "self", {.ir_name = "HardsigmoidBackward",
                 .summary = "dx = dy/6 where -3 < x < 3, else 0",
                 .source = "torch.nn.functional.hardsigmoid backward: grad * (1.0f / 6.0f)",
                 .known_as = backward_of("HardsigmoidBackward, hardsigmoid_backward, "
                                         "HardSigmoidGrad",
                                         "grads/grads_0|grad_output|grads, self|input_x"),
                 .corner_points = corners_at_three})),
    RegisteredOp(unary_op<"hardswish", hardswish, 5>(
        {.summary = "y = x min(max(x + 3, 0), 6) / 6",
         .source =
             "torch.nn.functional.hardswish; Howard et al. 2019, arXiv:1905.02244; CANN HardSwish",
         .known_as = {.calls = {{"hardswish, HardSwish", "self|x", "result|self|out|y"}},
                      .torch = "F.hardswish({0})"},
         .gradient = grad_of_input<"hardswish_grad">,
         .corner_points = corners_at_three,
         .terms = hardswish_terms})),
    RegisteredOp(unary_grad_op<"hardswish_grad", hardswish_grad, 5>(
        "self", {.ir_name = "HardswishBackward",
                 .summary = "dx = 0 where x < -3, dy where x > 3, else dy (x/3 + 1/2)",
                 .source = "torch.nn.functional.hardswish backward",
                 .known_as = backward_of("HardswishBackward, hardswish_backward, HardSwishGrad",
                                         "grads/grads_0|grad_output|grad, self|x"),
                 .corner_points = corners_at_three,
                 .terms = hardswish_grad_terms})),
    RegisteredOp(unary_op<"leaky_relu", leaky_relu, 2>(
        {.summary = "y = x where x > 0, else negative_slope x",
         .source = "torch.nn.functional.leaky_relu; CANN LeakyRelu",
         .known_as = {.calls = {{"leaky_relu, LeakyRelu",
                                 "self|x",
                                 "result|self|out|y",
                                 {.attrs = "negative_slope"}}},
                      .torch = "F.leaky_relu({0}, {negative_slope})"},
         .attrs = slope_attr(),
         .gradient = grad_of_input<"leaky_relu_grad">})),
    RegisteredOp(unary_grad_op<"leaky_relu_grad", leaky_relu_grad, 2>(
        "self", {.ir_name = "LeakyReluBackward",
                 .summary = "dx = dy where x > 0, else negative_slope dy",
                 .source = "torch.nn.functional.leaky_relu backward",
                 .known_as = backward_of(
                     "LeakyReluBackward, leaky_relu_backward, LeakyReluGrad",
                     "grads/grads_0|grad_output|gradients, self|result|features", "negative_slope"),
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
