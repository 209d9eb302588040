// y = f(x), element by element.
#include <algorithm>
#include <cmath>

#include "ops/elementwise_op.h"

namespace opbench {
namespace {

double negative(double x) { return -x; }
double absolute(double x) { return std::fabs(x); }
double exponential(double x) { return std::exp(x); }
double logarithm(double x) { return std::log(x); }
double square_root(double x) { return std::sqrt(x); }
double inverse_root(double x) { return 1 / std::sqrt(x); }
double tangent(double x) { return std::tanh(x); }

auto clamp(const Attrs& attrs) {
  return [bounds = ClampBounds(attrs)](double x) {
    return std::isnan(x) ? x : std::min(std::max(x, bounds.min), bounds.max);
  };
}

auto power(const Attrs& attrs) {
  return [exponent = attrs.number("exponent")](double x) { return power_of(x, exponent); };
}

std::vector<GradientCall> gradient_of_neg(const Problem&) {
  return {{"neg", {{GradientArg::output_gradient, 0}}}};
}

Distribution positive(const Problem&) { return {DistributionKind::uniform, 0, 4}; }

// x/2 times a sum of 1 and a value that is near -1 if x is far below 0.
Terms gelu_terms(std::span<const InputReader> inputs, const Attrs&) {
  return {.magnitude = unary_reference(inputs[0], [](double x) { return 2 * std::fabs(x); })};
}

const RegisteredOp kOperators[] = {
    RegisteredOp(unary_op<"neg", negative, 1>(
        {.summary = "y = -x",
         .source = "torch.neg; CANN Neg",
         .known_as = {.calls = {{"neg, Neg", "self|x|X", "result|self|out|y|Y"},
                                {"NegBackward", "grads/grads_0", "grad_inputs/grad_inputs_0"},
                                {"RsubBackward",
                                 "grads/grads_0",
                                 "grad_inputs/grad_inputs_0",
                                 {.where = "alpha: 1"}}},
                      .profiled = {{.names = "ForeachNeg", .each = "Neg", .lists = 1}},
                      .torch = "torch.neg({0})"},
         .gradient = gradient_of_neg,
         .on_integers = on_integers<"neg", integer_negative, 1>})),
    RegisteredOp(unary_op<"abs", absolute, 1>(
        {.summary = "y = |x|",
         .source = "torch.abs; CANN Abs",
         .known_as = {.calls = {{"abs, Abs", "self|x|X", "result|self|out|y|Y"}},
                      .profiled = {{.names = "ForeachAbs", .each = "Abs", .lists = 1}},
                      .torch = "torch.abs({0})"},
         .gradient = grad_of_input<"abs_grad">,
         .on_integers = on_integers<"abs", integer_magnitude, 1>})),
    RegisteredOp(unary_op<"clamp", clamp, 2>(
        {.summary = "y = min(max(x, min), max)",
         .source = "torch.clamp; CANN ClipByValue",
         .known_as = {.calls = {{"clamp, clamp_min, clamp_max, hardtanh",
                                 "self",
                                 "result|self|out",
                                 {.attrs = "min: min|min_val, max: max|max_val"}},
                                {"Relu6",
                                 "x",
                                 "y",
                                 {.attrs = "min: =0, max: =6", .is_profiled_only = true}},
                                {"ClipByValue",
                                 "x",
                                 "y",
                                 {.attrs = "min: clip_value_min, max: clip_value_max",
                                  .is_profiled_only = true}}},
                      .profiled = {{"ClipByValue", "x, =clip_value_min, =clip_value_max", "y"},
                                   {"aten::clamp, aten::clamp_", "self, =min, =max"},
                                   {"aten::clamp_min, aten::clamp_min_", "self, =min"}}},
         .attrs = clamp_attrs(),
         .gradient = grad_of_input<"clamp_grad">,
         .corner_points = clamp_corners})),
    RegisteredOp(unary_op<"exp", exponential, 8>(
        {.summary = "y = e^x",
         .source = "torch.exp; CANN Exp",
         .known_as = {.calls = {{"exp, Exp", "self|x|input", "result|self|out|y|output"}},
                      .profiled = {{.names = "ForeachExp", .each = "Exp", .lists = 1}},
                      .torch = "torch.exp({0})"},
         .gradient = grad_of_output<"mul">,
         .takes_functions = true})),
    RegisteredOp(unary_op<"log", logarithm, 8>(
        {.summary = "y = ln x",
         .source = "torch.log; CANN Log",
         .known_as = {.calls = {{"log, Log", "self|x|input", "result|self|out|y|output"}},
                      .profiled = {{.names = "ForeachLog", .each = "Log", .lists = 1}},
                      .torch = "torch.log({0})"},
         .gradient = grad_of_input<"div">,
         .data = positive,
         .takes_functions = true})),
    RegisteredOp(unary_op<"sqrt", square_root, 1>(
        {.summary = "y = sqrt(x)",
         .source = "torch.sqrt; CANN Sqrt",
         .known_as = {.calls = {{"sqrt, Sqrt", "self|x|X", "result|self|out|y|Y"}},
                      .profiled = {{.names = "ForeachSqrt", .each = "Sqrt", .lists = 1}},
                      .torch = "torch.sqrt({0})"},
         .gradient = grad_of_output<"sqrt_grad">,
         .data = positive})),
    RegisteredOp(unary_op<"rsqrt", inverse_root, 2>(
        {.summary = "y = 1 / sqrt(x)",
         .source = "torch.rsqrt; CANN Rsqrt",
         .known_as = {.calls = {{"rsqrt, Rsqrt", "self|x", "result|self|out|y"}},
                      .torch = "torch.rsqrt({0})"},
         .gradient = grad_of_output<"rsqrt_grad">,
         .data = positive})),
    RegisteredOp(unary_op<"tanh", tangent, 10>(
        {.summary = "y = tanh(x)",
         .source = "torch.tanh; CANN Tanh",
         .known_as = {.calls = {{"tanh, Tanh", "self|x|X|input", "result|self|out|y|Y"}},
                      .profiled = {{.names = "ForeachTanh", .each = "Tanh", .lists = 1}},
                      .torch = "torch.tanh({0})"},
         .gradient = grad_of_output<"tanh_grad">,
         .takes_functions = true})),
    RegisteredOp(unary_op<"sigmoid", sigmoid, 10>(
        {.summary = "y = 1 / (1 + e^-x)",
         .source = "torch.sigmoid; CANN Sigmoid",
         .known_as = {.calls = {{"sigmoid, Sigmoid", "self|x|X", "result|self|out|y|Y"}},
                      .profiled = {{.names = "ForeachSigmoid", .each = "Sigmoid", .lists = 1}},
                      .torch = "torch.sigmoid({0})"},
         .gradient = grad_of_output<"sigmoid_grad">,
         .takes_functions = true})),
    RegisteredOp(unary_op<"pow", power, 8>(
        {.summary = "y = x^exponent",
         .source = "torch.pow of a scalar; CANN Power",
         .known_as =
             {.calls =
                  {{"pow_Tensor_Scalar, pow",
                    "self",
                    "result|self|out",
                    {.attrs = "exponent", .needs = "exponent"}},
                   {"Square", "x", "y", {.attrs = "exponent: =2", .is_profiled_only = true}},
                   {"Pows", "x1", "y", {.is_profiled_only = true}},
                   {"LpNormUpdateV2",
                    "x",
                    "y",
                    {.attrs = "exponent: =0.5", .is_profiled_only = true}},
                   {"reciprocal", "self", "result|self|out", {.attrs = "exponent: =-1"}},
                   {"Reciprocal", "x", "y", {.attrs = "exponent: =-1", .is_profiled_only = true}}},
              .profiled = {{.names = "ForeachReciprocal", .each = "Reciprocal", .lists = 1},
                           {"Pows", "x1"},
                           {"aten::pow", "self, =exponent"}},
              .torch = "torch.pow({0}, {exponent})"},
         .attrs = exponent_attr(),
         .gradient = grad_of_input<"pow_grad">,
         .takes_functions = true})),
    RegisteredOp(unary_op<"gelu", gelu_of, 20>(
        {.summary =
             "y = x (1 + erf(x/sqrt(2)))/2, or x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))/2",
         .source =
             "torch.nn.functional.gelu; Hendrycks and Gimpel 2016, arXiv:1606.08415; CANN Gelu",
         .known_as =
             {.calls =
                  {{"gelu, npu_gelu",
                    "self",
                    "result|self|out",
                    {.attrs = "approximate: approximate as none|tanh", .needs = "approximate"}},
                   // Ascend's dumper drops `approximate`, and the device's Gelu is the form with
                   // tanh.
                   {"gelu",
                    "self",
                    "result|self|out",
                    {.attrs = "approximate: =tanh", .devices = "NPU"}},
                   {"gelu", "self", "result|self|out"},
                   {"Gelu", "x", "y", {.attrs = "approximate: =tanh", .is_profiled_only = true}},
                   {"GeluV2",
                    "x",
                    "y",
                    {.attrs = "approximate: approximate as none|tanh", .is_profiled_only = true}}},
              .torch = "F.gelu({0}, approximate={approximate})"},
         .attrs = gelu_attrs(),
         .gradient = grad_of_input<"gelu_grad">,
         .terms = gelu_terms,
         .takes_functions = true})),
};

}  // namespace
}  // namespace opbench
