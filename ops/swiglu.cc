// The gate of feed-forward layers: silu of one half of an axis times the other half.
#include <fmt/format.h>

#include <cmath>

#include "ops/elementwise_op.h"
#include "ops/gates.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "ops/terms.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "swiglu", kGradName = "swiglu_grad";

using Pair = std::array<double, 2>;

double swiglu(double a, double b) { return a / (1 + std::exp(-a)) * b; }

Pair swiglu_grad(double dy, double a, double b) {
  const double s = sigmoid(a);
  return {dy * b * s * (1 + a * (1 - s)), dy * a * s};
}

// The exponential has an error in proportion to its argument.
double terms_of(double a, double b) { return std::fabs(swiglu(a, b)) * (1 + std::fabs(a)); }

// The terms 1 and a (1 - s) cancel around a = -1.28; s has the error of the exponential.
Pair terms_of_grad(double dy, double a, double b) {
  const double s = sigmoid(a), size = std::fabs(a), rest = 1 - s;
  const double slope = s * (1 + size * rest) + size * s * rest * (2 + size);
  return {std::fabs(dy * b) * slope, std::fabs(dy) * size * s * (1 + size)};
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  return {with_shape(inputs[0], GatePairs(kName, inputs[0].shape, attrs.integer("dim")).result)};
}

std::vector<TensorDesc> infer_grad(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  require_gate_gradient(kGradName, inputs[0],
                        GatePairs(kGradName, inputs[1].shape, attrs.integer("dim")));
  return {inputs[1]};
}

template <auto kFormula>
Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const GatePairs pairs(kName, inputs[0].desc().shape, attrs.integer("dim"));
  return gate_reference(inputs[0], pairs, pairs.count(), kFormula);
}

template <auto kFormula>
Reference reference_grad(std::span<const InputReader> inputs, const Attrs& attrs) {
  const GatePairs pairs(kGradName, inputs[1].desc().shape, attrs.integer("dim"));
  return gate_gradient(inputs[0], inputs[1], pairs, pairs.count(), kFormula);
}

// The factors may be multiplied in any order.
double product(double a, double b) { return greatest_product({a, b}); }
Pair products(double dy, double a, double b) {
  const double most = greatest_product({dy, a, b});
  return {most, most};
}

std::vector<AttrSpec> attributes() {
  return {{"dim", std::int64_t{-1}, "the axis of both halves; negative: from the back"}};
}

Traffic traffic_grad(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  traffic.operations = 20 * double(problem.inputs[0].elements());
  return traffic;
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "npu_swiglu",
    .summary = "y = silu(a)*b, a and b the halves of x along an axis",
    .source = "Shazeer 2020, arXiv:2002.05202; CANN SwiGlu",
    .known_as = {.calls = {{"npu_swiglu, SwiGlu", "self|x", "result|out|y", {.attrs = "dim"}}},
                 .torch = "(lambda a, b: F.silu(a) * b)(*{0}.chunk(2, {dim}))",
                 .likely =
                     [](const Shapes& inputs, const Shapes& outputs) {
                       return likely_gate_dim(inputs[0], outputs[0]);
                     }},
    .inputs = {{"self"}},
    .outputs = {{"result"}},
    .attrs = attributes(),
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer,
    .reference = reference<swiglu>,
    .terms =
        [](std::span<const InputReader> inputs, const Attrs& attrs) {
          return Terms{.magnitude = reference<terms_of>(inputs, attrs),
                       .greatest = reference<product>(inputs, attrs)};
        },
    .traffic = input_traffic<6>,
    .gradient = [](const Problem&) -> std::vector<GradientCall> {
      return {{kGradName, {{GradientArg::output_gradient, 0}, {GradientArg::input, 0}}}};
    },
    .takes_functions = true,
}};

const RegisteredOp registered_grad{{
    .name = kGradName,
    .ir_name = "NpuSwigluBackward",
    .summary = "da = dy*b*s*(1 + a*(1 - s)), db = dy*a*s, s = sigmoid(a), stored like x",
    .source = "CANN SwiGluGrad",
    .known_as = {.calls = {{"NpuSwigluBackward, npu_swiglu_backward, SwiGluGrad",
                            "grads/grads_0|grad_output|dy, self|x",
                            "grad_inputs/grad_inputs_0|result|dx",
                            {.attrs = "dim"}}},
                 .likely = [](const Shapes& inputs,
                              const Shapes&) { return likely_gate_dim(inputs[1], inputs[0]); }},
    .inputs = {{"grad_output", "grads/grads_0"}, {"self"}},
    .outputs = {{"grad_input", "grad_inputs/grad_inputs_0"}},
    .attrs = attributes(),
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer_grad,
    .reference = reference_grad<swiglu_grad>,
    .terms =
        [](std::span<const InputReader> inputs, const Attrs& attrs) {
          return Terms{.magnitude = reference_grad<terms_of_grad>(inputs, attrs),
                       .greatest = reference_grad<products>(inputs, attrs)};
        },
    .traffic = traffic_grad,
    .inputs_like =
        [](const Dims& shape, const Attrs& attrs) {
          return std::vector<Dims>{GatePairs(kGradName, shape, attrs.integer("dim")).result, shape};
        },
    .takes_functions = true,
}};

}  // namespace

GatePairs::GatePairs(std::string_view op, const Dims& shape, std::int64_t dim, bool is_interleaved)
    : result(shape) {
  const std::size_t axis = axis_of(op, shape, dim);
  const AxisView view(shape, axis);
  if (view.extent % 2 != 0) {
    throw Error(
        fmt::format("{}: 'self' has shape {}, and extent {} along axis {}; allowed: even "
                    "extents",
                    op, to_string(shape), view.extent, axis));
  }
  const std::int64_t half = view.extent / 2;
  result[axis] = half;
  outer = view.outer;
  rows = is_interleaved ? view.outer * half : view.outer;
  width = is_interleaved ? view.inner : half * view.inner;
}

void require_gate_gradient(std::string_view op, const TensorDesc& grad_output,
                           const GatePairs& pairs) {
  if (grad_output.shape == pairs.result) return;
  throw Error(fmt::format("{}: 'grad_output' has shape {}; allowed: {}, half of 'self'", op,
                          to_string(grad_output.shape), to_string(pairs.result)));
}

LikelyAttrs likely_gate_dim(const Dims& x, const Dims& y) {
  for (std::size_t axis = 0; x.size() == y.size() && axis < x.size(); ++axis) {
    if (x[axis] == 2 * y[axis] && x[axis] > 0) return {{{"dim", {double(axis)}}}};
  }
  return {};
}

}  // namespace opbench
