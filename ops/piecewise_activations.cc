// Activations that change their formula at a limit, and their gradients.
#include <algorithm>
#include <cmath>

#include "ops/activations.h"
#include "ops/elementwise_op.h"
#include "ops/terms.h"

namespace opbench {
namespace {

// NaN is not inside, and stays.
auto hardshrink(const Attrs& attrs) {
  return [limit = attrs.number("lambd")](double x) { return x >= -limit && x <= limit ? 0.0 : x; };
}
auto softshrink(const Attrs& attrs) {
  return [limit = attrs.number("lambd")](double x) {
    if (x > limit) return x - limit;
    return x < -limit ? x + limit : 0.0;
  };
}
auto shrink_grad(const Attrs& attrs) {
  return [limit = attrs.number("lambd")](double dy, double x) {
    return x >= -limit && x <= limit ? 0.0 : dy;
  };
}

auto threshold(const Attrs& attrs) {
  return [limit = attrs.number("threshold"), value = attrs.number("value")](double x) {
    return x <= limit ? value : x;
  };
}
auto threshold_grad(const Attrs& attrs) {
  return [limit = attrs.number("threshold")](double dy, double x) { return x <= limit ? 0.0 : dy; };
}

auto celu(const Attrs& attrs) {
  return [a = attrs.number("alpha")](double x) { return x > 0 ? x : a * std::expm1(x / a); };
}
auto celu_grad(const Attrs& attrs) {
  return [a = attrs.number("alpha")](double dy, double x) {
    return x > 0 ? dy : dy * std::exp(x / a);
  };
}

auto elu_result_grad(const Attrs& attrs) {
  return [factor = attrs.number("alpha") * attrs.number("scale"), scale = attrs.number("scale"),
          in = attrs.number("input_scale")](double dy, double y) {
    return y > 0 ? dy * scale : dy * in * (y + factor);
  };
}

// std::min in this order keeps NaN.
double log_sigmoid(double x) { return std::min(x, 0.0) - std::log1p(std::exp(-std::fabs(x))); }
double log_sigmoid_grad(double dy, double x) { return dy * sigmoid(-x); }

/// Frameworks compare with the limit as the dtype holds it, devices with the exact one or with that
/// of fp32. An element between these is right on either side: its terms allow a difference of its
/// own size. `x` is the input that is compared.
Reference terms_at(const InputReader& x, std::vector<double> limits, double value = 0) {
  const DType dtype = x.desc().dtype;
  const auto stored = [dtype](double number) {
    std::uint64_t bits = 0;
    from_doubles(dtype, &number, 1, &bits);
    to_doubles(dtype, &bits, 1, &number);
    return number;
  };
  std::erase_if(limits, [&](double limit) { return stored(limit) == limit; });
  for (double& limit : limits) limit = stored(limit);
  return unary_reference(x, [limits, value](double element) {
    constexpr double kAny = 0x1p26;  // times the smallest unit roundoff, 2^-24
    const bool is_at = std::find(limits.begin(), limits.end(), element) != limits.end();
    return is_at ? kAny * (std::fabs(element) + std::fabs(value)) : 0;
  });
}

/// The terms of a gradient at the limits of its second input.
Reference grad_terms_at(std::span<const InputReader> inputs, const std::vector<double>& limits) {
  return [dy = inputs[0], at = terms_at(inputs[1], limits)](std::size_t output, ElementRange range,
                                                            std::span<double> to) {
    std::vector<double> size(to.size());
    at(output, range, size);
    dy.read(range, to);
    for (std::size_t i = 0; i < to.size(); ++i) {
      to[i] = std::fabs(to[i]) * (size[i] > 0 ? 0x1p26 : 1);
    }
  };
}

std::vector<double> shrink_limits(const Attrs& attrs) {
  return {-attrs.number("lambd"), attrs.number("lambd")};
}
std::vector<double> shrink_corners(const Attrs& attrs, DType) { return shrink_limits(attrs); }
std::vector<double> threshold_corners(const Attrs& attrs, DType) {
  return {attrs.number("threshold")};
}

Terms hardshrink_terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  return {.magnitude = terms_at(inputs[0], shrink_limits(attrs))};
}
Terms shrink_grad_terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  return {.magnitude = grad_terms_at(inputs, shrink_limits(attrs))};
}
Terms threshold_terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  return {.magnitude = terms_at(inputs[0], {attrs.number("threshold")}, attrs.number("value"))};
}
Terms threshold_grad_terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  return {.magnitude = grad_terms_at(inputs, {attrs.number("threshold")})};
}

// x and the limit cancel, also if the limit is rounded.
Terms softshrink_terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  return {.magnitude = unary_reference(inputs[0], [limit = attrs.number("lambd")](double x) {
            return std::fabs(x) > limit * (1 - 0x1p-8) ? std::fabs(x) + limit : 0;
          })};
}

// e^(x/alpha) and 1 cancel around 0.
Terms celu_terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  return {.magnitude = unary_reference(inputs[0], [a = attrs.number("alpha")](double x) {
            return x > 0 ? 0 : std::fabs(a) * (std::exp(x / a) * (1 + std::fabs(x / a)) + 1);
          })};
}

// y and alpha cancel.
Terms elu_result_grad_terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  const double factor = attrs.number("alpha") * attrs.number("scale");
  return {
      .magnitude = binary_reference(
          inputs[0], inputs[1], [factor, in = attrs.number("input_scale")](double dy, double y) {
            return y > 0 ? 0 : std::fabs(dy * in) * (std::fabs(y) + std::fabs(factor));
          })};
}

std::string not_negative(const AttrValue& value) {
  return std::get<double>(value) >= 0 ? "" : "it must be 0 or more";
}
std::vector<AttrSpec> lambd_attr() {
  return {{"lambd", 0.5, "half the width of the interval that becomes 0", not_negative}};
}
AttrSpec threshold_attr() { return {"threshold", 0.0, "up to here x is replaced"}; }
std::vector<AttrSpec> alpha_attr() {
  return {{"alpha", 1.0, "limit of -y for small x, divisor of x",
           [](const AttrValue& value) -> std::string {
             return std::get<double>(value) == 0 ? "it must not be 0" : "";
           }}};
}

// Results of elu are above -alpha.
Distribution above_minus_one(const Problem&) { return {DistributionKind::uniform, -1, 2}; }

const RegisteredOp kOperators[] = {
    RegisteredOp(unary_op<"hardshrink", hardshrink, 2>(
        {.summary = "y = 0 where -lambd <= x <= lambd, else x",
         .source = "torch.nn.functional.hardshrink; CANN HardShrink",
         .known_as = {.calls = {{"hardshrink, HardShrink",
                                 "self|input_x",
                                 "result|self|out|output_y",
                                 {.attrs = "lambd"}}},
                      .torch = "F.hardshrink({0}, {lambd})"},
         .attrs = lambd_attr(),
         .gradient = grad_of_input<"shrink_grad">,
         .corner_points = shrink_corners,
         .terms = hardshrink_terms})),
    RegisteredOp(unary_op<"softshrink", softshrink, 3>(
        {.summary = "y = x - lambd where x > lambd, x + lambd where x < -lambd, else 0",
         .source = "torch.nn.functional.softshrink, 1.13 for NaN; CANN SoftShrink",
         .known_as = {.calls = {{"softshrink, SoftShrink",
                                 "self|input_x",
                                 "result|self|out|output_y",
                                 {.attrs = "lambd"}}},
                      .torch = "F.softshrink({0}, {lambd})"},
         .attrs = lambd_attr(),
         .gradient = grad_of_input<"shrink_grad">,
         .corner_points = shrink_corners,
         .terms = softshrink_terms})),
    RegisteredOp(unary_grad_op<"shrink_grad", shrink_grad, 2>(
        "self",
        {.ir_name = "HardshrinkBackward",
         .summary = "dx = 0 where -lambd <= x <= lambd, else dy",
         .source = "torch.nn.functional.hardshrink and softshrink backward",
         .known_as = {.calls = {{"HardshrinkBackward, SoftshrinkBackward, hardshrink_backward, "
                                 "softshrink_backward, HardShrinkGrad, SoftShrinkGrad",
                                 "grads/grads_0|grad_output|grad_out|gradients|input_grad, "
                                 "self|features|input_x",
                                 "grad_inputs/grad_inputs_0|result|grad_input|backprops|output_y",
                                 {.attrs = "lambd"}}}},
         .attrs = lambd_attr(),
         .corner_points = shrink_corners,
         .terms = shrink_grad_terms})),
    RegisteredOp(unary_op<"threshold", threshold, 1>(
        {.summary = "y = value where x <= threshold, else x",
         .source = "torch.nn.functional.threshold; CANN ThresholdV2",
         .known_as = {.calls = {{"threshold, ThresholdV2",
                                 "self|x",
                                 "result|self|out|y",
                                 {.attrs = "threshold, value"}}},
                      .profiled = {{"ThresholdV2", "x, =threshold, =value", "y"}},
                      .torch = "F.threshold({0}, {threshold}, {value})"},
         .attrs = {threshold_attr(), {"value", 0.0, "replaces x"}},
         .gradient = grad_of_input<"threshold_grad">,
         .corner_points = threshold_corners,
         .terms = threshold_terms})),
    RegisteredOp(unary_grad_op<"threshold_grad", threshold_grad, 1>(
        "self", {.ir_name = "ThresholdBackward0",
                 .summary = "dx = 0 where x <= threshold, else dy",
                 .source = "torch.nn.functional.threshold backward; CANN ThresholdGradV2D",
                 .known_as = {.calls = {{"ThresholdBackward, threshold_backward, ThresholdGradV2D",
                                         "grads/grads_0|grad_output|gradients, "
                                         "self|result|features",
                                         "grad_inputs/grad_inputs_0|result|backprops",
                                         {.attrs = "threshold", .turn = 1}}}},
                 .attrs = {threshold_attr()},
                 .corner_points = threshold_corners,
                 .terms = threshold_grad_terms})),
    RegisteredOp(unary_op<"celu", celu, 8>(
        {.summary = "y = x where x > 0, else alpha (e^(x/alpha) - 1)",
         .source = "torch.nn.functional.celu; Barron 2017, arXiv:1704.07483; CANN CeluV2",
         .known_as =
             {.calls = {{"celu, CeluV2", "self|x", "result|self|out|y", {.attrs = "alpha"}}},
              .torch = "F.celu({0}, {alpha})"},
         .attrs = alpha_attr(),
         .gradient = grad_of_input<"celu_grad">,
         .terms = celu_terms,
         .holds_fp32 = true,
         .takes_functions = true})),
    RegisteredOp(unary_grad_op<"celu_grad", celu_grad, 9>(
        "self", {.ir_name = "CeluBackward",
                 .summary = "dx = dy where x > 0, else dy e^(x/alpha)",
                 .source = "torch.nn.functional.celu backward",
                 .known_as = {.calls = {{"CeluBackward",
                                         "grads/grads_0, self|result",
                                         "grad_inputs/grad_inputs_0",
                                         {.attrs = "alpha"}}}},
                 .attrs = alpha_attr(),
                 .takes_functions = true})),
    RegisteredOp(unary_grad_op<"elu_result_grad", elu_result_grad, 4>(
        "result",
        {.ir_name = "EluBackward1",
         .summary = "dx = scale dy where y > 0, else dy input_scale (y + alpha scale), y = elu(x)",
         .source = "torch.nn.functional.elu backward in place; CANN EluGrad, SeluGrad",
         .known_as = {.calls = {{"EluBackward, elu_backward, EluGrad",
                                 "grads/grads_0|grad_output|grads, "
                                 "self_or_result|result|activations",
                                 "grad_inputs/grad_inputs_0|result|y",
                                 {.attrs = "alpha, scale, input_scale",
                                  .where = "is_result: 1",
                                  .turn = 1}},
                                {"SeluGrad",
                                 "gradients, outputs",
                                 "y",
                                 {.attrs = "alpha: =1.6732632423543772, "
                                           "scale: =1.0507009873554805"}}}},
         .attrs = elu_attrs(),
         .data = above_minus_one,
         .terms = elu_result_grad_terms})),
    RegisteredOp(unary_op<"log_sigmoid", log_sigmoid, 12>(
        {.summary = "y = -log(1 + e^-x)",
         .source = "torch.nn.functional.logsigmoid; CANN LogSigmoid",
         .known_as = {.calls = {{"log_sigmoid, log_sigmoid_forward, LogSigmoid", "self|x",
                                 "result|result0|output|y"}},
                      .torch = "F.logsigmoid({0})"},
         .gradient = grad_of_input<"log_sigmoid_grad">,
         .takes_functions = true})),
    RegisteredOp(unary_grad_op<"log_sigmoid_grad", log_sigmoid_grad, 11>(
        "self", {.ir_name = "LogSigmoidBackward",
                 .summary = "dx = dy / (1 + e^x)",
                 .source = "torch.nn.functional.logsigmoid backward; CANN LogSigmoidGrad",
                 .known_as = {.calls = {{"LogSigmoidBackward, log_sigmoid_backward, LogSigmoidGrad",
                                         "grads/grads_0|grad_output|grads, self|features",
                                         "grad_inputs/grad_inputs_0|result|grad_input|backprops"}}},
                 .takes_functions = true})),
};

}  // namespace
}  // namespace opbench
