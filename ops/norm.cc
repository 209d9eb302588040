// The p-norm over axes, which clips gradients and normalises vectors, and its gradient.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "ops/elementwise.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "ops/reduction.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "norm", kGradName = "norm_grad";

// The 0-norm counts elements that are not 0.
double power_of_magnitude(double x, double p) {
  if (p == 0) return x == 0 ? 0 : 1;
  return p == 2 ? x * x : std::pow(std::fabs(x), p);
}

double root_of(double sum, double p) {
  if (p == 0 || p == 1) return sum;
  return p == 2 ? std::sqrt(sum) : std::pow(sum, 1 / p);
}

/// The sums of the powers, each passed through `function`.
template <class Function>
Reference of_sums(std::span<const InputReader> inputs, const Attrs& attrs, Function function) {
  const double p = attrs.number("p");
  std::vector<double> sums =
      sums_over(inputs[0], reduced_axes(kName, inputs[0].desc().shape, attrs),
                [p](double x) { return power_of_magnitude(x, p); });
  for (double& sum : sums) sum = function(sum, p);
  return elements_of({std::move(sums)});
}

// In fp32 the powers of small elements underflow to 0.
Terms terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  const double lost = reduced_count(kName, inputs[0].desc().shape, attrs) *
                      double(std::numeric_limits<float>::min());
  const auto magnitude = [lost](double sum, double p) {
    const double y = root_of(sum, p);
    const double steep = p > 0 && p < 1 ? 1 / p : 1;  // slope of the root
    return p <= 1 ? steep * y : y + 0x1p24 * (root_of(sum + lost, p) - y);
  };
  return {.magnitude = of_sums(inputs, attrs, magnitude),
          .greatest = of_sums(
              inputs, attrs, [](double sum, double p) { return std::fmax(sum, root_of(sum, p)); })};
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  return {describe(inputs[0].dtype, reduced_shape(kName, inputs[0].shape, attrs))};
}

std::vector<TensorDesc> infer_grad(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Dims wanted = reduced_shape(kGradName, inputs[1].shape, attrs);
  for (const std::size_t i : {0, 2}) {
    if (inputs[i].shape == wanted) continue;
    throw Error(fmt::format("{}: '{}' has shape {}; allowed: {}, the reduced shape of 'self'",
                            kGradName, i == 0 ? "grad_output" : "result",
                            to_string(inputs[i].shape), to_string(wanted)));
  }
  return {inputs[1]};
}

// The gradient is 0 if the norm is 0.
double slope(double x, double norm, double p) {
  if (p == 0 || norm == 0) return 0;
  if (p == 2) return x / norm;
  const double sign = x == 0 ? 0 : std::copysign(1.0, x);
  return p == 1 ? sign : sign * std::pow(std::fabs(x) / norm, p - 1);
}

Reference reference_grad(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Dims& shape = inputs[1].desc().shape;
  return [x = inputs[1], dy = inputs[0].read_all(), norm = inputs[2].read_all(),
          strides = row_major_strides(shape),
          from = strides_in_result(shape, reduced_axes(kGradName, shape, attrs)),
          p = attrs.number("p")](std::size_t, ElementRange range, std::span<double> to) {
    x.read(range, to);
    for (std::size_t i = 0; i < to.size(); ++i) {
      const auto at = static_cast<std::size_t>(
          place_in_result(range.first + static_cast<std::int64_t>(i), strides, from));
      to[i] = dy[at] * slope(to[i], norm[at], p);
    }
  };
}

Traffic traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  traffic.operations = 2 * double(problem.inputs[problem.inputs.size() / 2].elements());
  return traffic;
}

std::vector<AttrSpec> attributes() {
  std::vector<AttrSpec> attrs = reduce_attrs();
  attrs.insert(attrs.begin(), {"p", 2.0, "the order; 0 counts elements that are not 0",
                               [](const AttrValue& value) -> std::string {
                                 return std::get<double>(value) >= 0 ? "" : "it must be 0 or more";
                               }});
  return attrs;
}

std::vector<GradientCall> gradient(const Problem&) {
  return {{kGradName,
           {{GradientArg::output_gradient, 0}, {GradientArg::input, 0}, {GradientArg::output, 0}}}};
}

std::vector<Dims> inputs_like_grad(const Dims& shape, const Attrs& attrs) {
  const Dims reduced = reduced_shape(kGradName, shape, attrs);
  return {reduced, shape, reduced};
}

Distribution norms(const Problem&) { return {DistributionKind::uniform, 1, 4}; }

const RegisteredOp registered{{
    .name = kName,
    .ir_name = kName,
    .summary = "y = (the sum of |x|^p over the axes)^(1/p)",
    .source = "torch.linalg.vector_norm",
    .known_as = {.calls = {{"norm_ScalarOpt_dim, norm_ScalarOpt_dim_dtype, norm, "
                            "linalg_vector_norm",
                            "self",
                            "result|out",
                            {.attrs = "p: p|ord, axes: dim, keep_dims: keepdim"}}},
                 .torch = "torch.linalg.vector_norm({0}, {p}, {axes} or None, {keep_dims})"},
    .inputs = {{"self", "self", {}, unit_data}},
    .outputs = {{"result"}},
    .attrs = attributes(),
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer,
    .reference = [](std::span<const InputReader> inputs,
                    const Attrs& attrs) { return of_sums(inputs, attrs, root_of); },
    .terms = terms,
    .traffic = traffic,
    .gradient = gradient,
    .mixing = Mixing::other,
}};

const RegisteredOp registered_grad{{
    .name = kGradName,
    .ir_name = "NormBackward",
    .summary = "dx = dy*sign(x)*(|x|/y)^(p-1), 0 where y is 0",
    .source = "torch.linalg.vector_norm backward",
    .known_as = {.calls = {{"NormBackward, LinalgVectorNormBackward",
                            "grads/grads_0, self, result",
                            "grad_inputs/grad_inputs_0",
                            {.attrs = "p: p|ord, axes: dim, keep_dims: keepdim"}}}},
    .inputs = {{"grad_output", "grads/grads_0"}, {"self"}, {"result", "result", {}, norms}},
    .outputs = {{"grad_input", "grad_inputs/grad_inputs_0"}},
    .attrs = attributes(),
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer_grad,
    .reference = reference_grad,
    .traffic = traffic,
    .inputs_like = inputs_like_grad,
}};

}  // namespace
}  // namespace opbench
