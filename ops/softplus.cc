#include <cmath>

#include "ops/elementwise.h"
#include "ops/elementwise_op.h"

namespace opbench {
namespace {

std::string nonzero(const AttrValue& value) {
  return static_cast<float>(std::get<double>(value)) == 0
             ? "beta = 0 divides by zero; any other number of fp32 is allowed"
             : "";
}

// log(1 + e) for 0 <= e <= 1: the logarithm of the rounded sum, plus a correction of the rounding.
// It is as exact as log1p and three times as fast; verification spends most of its time here.
double log1p_unit(double e) {
  const double sum = 1 + e;
  return std::log(sum) + (e - (sum - 1)) / sum;
}

// log(1 + exp(t)) / beta if t = beta*x <= threshold, else x; in the form that neither overflows nor
// cancels.
double softplus(double x, const SoftplusNumbers& p) {
  if (p.is_linear(x)) return x;
  const double beta = double(p.beta), t = beta * x;
  return ((t > 0 ? t : 0) + log1p_unit(std::exp(-std::fabs(t)))) / beta;
}

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  return unary_reference(inputs[0],
                         [p = SoftplusNumbers(attrs)](double x) { return softplus(x, p); });
}

// The device rounds 1 + exp(t): the error of the logarithm is a unit roundoff of 1, also if t is
// far below 0.
Terms terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  return {.magnitude = unary_reference(inputs[0], [p = SoftplusNumbers(attrs)](double x) {
            return p.is_linear(x) ? std::fabs(x)
                                  : std::fabs(x) + std::fmax(x, 0) + 1 / std::fabs(double(p.beta));
          })};
}

const RegisteredOp registered{{
    .name = "softplus",
    .ir_name = "softplus",
    .summary = "y = log(1 + exp(beta*x))/beta where beta*x <= threshold, else x",
    .source = "torch.nn.functional.softplus; CANN SoftplusV2",
    .known_as = {.calls = {{"softplus, SoftplusV2, Softplus",
                            "self|x|X",
                            "result|out|y|Y",
                            {.attrs = "beta, threshold"}}},
                 .torch = "F.softplus({0}, {beta}, {threshold})"},
    .inputs = {{"self"}},
    .outputs = {{"result"}},
    .attrs = softplus_attrs(),
    .dtypes = kArithmeticDTypes,
    .formats = kPlainAnd5hd,
    .infer = [](std::span<const TensorDesc> in,
                const Attrs&) { return infer_elementwise("softplus", in); },
    .reference = reference,
    .terms = terms,
    // multiply, exp, add, log, divide, compare-and-select
    .traffic = [](const Problem& problem) { return elementwise_traffic(problem, 6); },
    .gradient =
        [](const Problem&) {
          return std::vector<GradientCall>{
              {"softplus_grad", {{GradientArg::output_gradient, 0}, {GradientArg::input, 0}}}};
        },
    .corner_points = softplus_corner_points,
    .takes_functions = true,
}};

}  // namespace

std::vector<AttrSpec> softplus_attrs() {
  return {{"beta", 1.0, "steepness", nonzero},
          {"threshold", 20.0, "y = x where beta*x > threshold"}};
}

std::vector<double> softplus_corner_points(const Attrs& attrs, DType dtype) {
  const double beta = attrs.number("beta");
  const double edge = attrs.number("threshold") / beta;
  // The logarithms of the largest finite and the smallest normal value.
  const bool is_half = dtype == DType::fp16;
  const double log_max = is_half ? 11.0898 : 88.7228, log_min = is_half ? -9.7041 : -87.3365;
  std::vector<double> points;
  for (const double nudge : {0.0, 1e-7, -1e-7, 1e-3, -1e-3}) points.push_back(edge * (1 + nudge));
  for (const double t : {log_max - 0.01, log_max, log_max + 0.01, log_min - 0.01, log_min,
                         log_min + 0.01, -103.0, -104.0, -12.0, -16.0, -17.0, 1e-4, -1e-4}) {
    points.push_back(t / beta);
  }
  return points;
}

}  // namespace opbench
