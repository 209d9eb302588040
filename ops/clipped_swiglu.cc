// The gate of gpt-oss: swiglu of clipped numbers with a bias.
#include "ops/clipped_swiglu.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "ops/elementwise_op.h"
#include "ops/index.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "ops/terms.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "clipped_swiglu", kGradName = "clipped_swiglu_grad";

using Pair = std::array<double, 2>;

struct Gate : ClippedGate {
  double operator()(double a, double b) const {
    const double x = clipped_a(a);
    return x / (1 + std::exp(-alpha * x)) * (clipped_b(b) + bias);
  }
};

// The exponential has an error in proportion to its argument. Below `least`, the smallest normal
// number, the first product is rounded like `least`.
struct GateTerms : ClippedGate {
  double least;

  double operator()(double a, double b) const {
    const double x = std::fabs(clipped_a(a)), factor = std::fabs(clipped_b(b)) + std::fabs(bias);
    return std::fmax(x * sigmoid(alpha * clipped_a(a)), least) * factor *
           (1 + std::fabs(alpha) * x);
  }
};

// A clipped number has no slope; that at the limit has.
struct Slopes : ClippedGate {
  Pair operator()(double dy, double a, double b) const {
    const double x = clipped_a(a), s = sigmoid(alpha * x), y = clipped_b(b) + bias;
    return {a <= limit ? dy * y * s * (1 + alpha * x * (1 - s)) : 0,
            std::fabs(b) <= limit ? dy * x * s : 0};
  }
};

struct SlopeTerms : ClippedGate {
  Pair operator()(double dy, double a, double b) const {
    const double x = clipped_a(a), s = sigmoid(alpha * x), rest = 1 - s;
    const double size = std::fabs(alpha * x), y = std::fabs(clipped_b(b)) + std::fabs(bias);
    const double slope = s * (1 + size * rest) + size * s * rest * (2 + size);
    return {a <= limit ? std::fabs(dy) * y * slope : 0,
            std::fabs(b) <= limit ? std::fabs(dy * x) * s * (1 + size) : 0};
  }
};

// The factors may be multiplied in any order.
struct Products : ClippedGate {
  double operator()(double a, double b) const {
    return greatest_product({a, alpha * a, std::fabs(clipped_b(b)) + std::fabs(bias)});
  }
  Pair operator()(double dy, double a, double b) const {
    const double most = std::fmax(1, std::fabs(dy)) * (*this)(a, b);
    return {most, most};
  }
};

std::int64_t live(std::span<const InputReader> inputs, std::size_t group_index,
                  const GatePairs& pairs) {
  if (!is_given(inputs, group_index)) return pairs.count();
  return live_pairs(pairs, inputs[group_index].read_index());
}

template <class Function>
Reference of_pairs(std::span<const InputReader> inputs, const Attrs& attrs, Function f) {
  const GatePairs pairs = clipped_pairs(kName, inputs[0].desc().shape, attrs);
  return gate_reference(inputs[0], pairs, live(inputs, 1, pairs), f);
}

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  return of_pairs(inputs, attrs, Gate{ClippedGate(attrs)});
}

template <class Function>
Reference reference_grad(std::span<const InputReader> inputs, const Attrs& attrs) {
  const GatePairs pairs = clipped_pairs(kGradName, inputs[1].desc().shape, attrs);
  return gate_gradient(inputs[0], inputs[1], pairs, live(inputs, 2, pairs),
                       Function{ClippedGate(attrs)});
}

void require_vector(std::string_view op, std::span<const TensorDesc> inputs, std::size_t i) {
  if (!is_given(inputs, i) || inputs[i].shape.size() == 1) return;
  throw Error(fmt::format("{}: 'group_index' has shape {}; allowed: one axis", op,
                          to_string(inputs[i].shape)));
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  require_vector(kName, inputs, 1);
  return {with_shape(inputs[0], clipped_pairs(kName, inputs[0].shape, attrs).result)};
}

std::vector<TensorDesc> infer_grad(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  require_vector(kGradName, inputs, 2);
  require_gate_gradient(kGradName, inputs[0], clipped_pairs(kGradName, inputs[1].shape, attrs));
  return {inputs[1]};
}

void check_groups(const Problem& problem, std::span<const InputReader> inputs) {
  const std::size_t i = inputs.size() - 1;
  if (problem.op->input(i).name != "group_index" || !is_given(inputs, i)) return;
  const std::vector<std::int64_t> sizes = inputs[i].read_index();
  check_index(
      {.op = problem.op->name,
       .input = "group_index",
       .extent =
           clipped_pairs(problem.op->name, inputs[i - 1].desc().shape, problem.attrs).outer + 1},
      sizes);
}

// About one row for each of four groups of four rows.
Distribution group_data(const Problem& problem) {
  const std::size_t x = problem.inputs.size() - 2;
  const std::int64_t rows =
      clipped_pairs(problem.op->name, problem.inputs[x].shape, problem.attrs).outer;
  const std::int64_t groups = std::max<std::int64_t>(1, problem.inputs.back().elements());
  return {DistributionKind::integers, 0, double(rows / groups)};
}

std::vector<AttrSpec> attributes() {
  return {{"dim", std::int64_t{-1}, "the axis of the pairs; negative: from the back"},
          {"alpha", 1.702, "factor in the sigmoid"},
          {"limit", 7.0, "upper bound of a, and of the magnitude of b",
           [](const AttrValue& value) -> std::string {
             return std::get<double>(value) >= 0 ? "" : "it must be 0 or more";
           }},
          {"bias", 1.0, "is added to b"},
          {"interleaved", true, "pairs are neighbours; false: elements of both halves"}};
}

std::vector<GradientCall> gradient(const Problem& forward) {
  GradientCall call{kGradName, {{GradientArg::output_gradient, 0}, {GradientArg::input, 0}}};
  if (is_given(forward.inputs, 1)) call.args.push_back({GradientArg::input, 1});
  return {call};
}

const TensorSpec kGroups{"group_index", "group_index", kIndexDTypes, group_data};

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "npu_clipped_swiglu",
    .summary = "y = a*sigmoid(alpha*a)*(b + bias), a up to limit, b within +-limit; 0 in rows from "
               "the sum of group_index on",
    .source = "CANN ClippedSwiglu; gpt-oss",
    .known_as = {.calls = {{"npu_clipped_swiglu, ClippedSwiglu",
                            "self|x, group_index?",
                            "result|out|y",
                            {.attrs = "dim, alpha, limit, bias, interleaved"}}},
                 .likely =
                     [](const Shapes& inputs, const Shapes& outputs) {
                       return likely_gate_dim(inputs[0], outputs[0]);
                     }},
    .inputs = {{"self"}, kGroups},
    .outputs = {{"result"}},
    .optional_inputs = 1,
    .attrs = attributes(),
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer,
    .reference = reference,
    .terms =
        [](std::span<const InputReader> inputs, const Attrs& attrs) {
          const ClippedGate gate(attrs);
          const double least = smallest_normal(inputs[0].desc().dtype);
          return Terms{.magnitude = of_pairs(inputs, attrs, GateTerms{gate, least}),
                       .greatest = of_pairs(inputs, attrs, Products{gate})};
        },
    .traffic = input_traffic<7>,
    .gradient = gradient,
    .inputs_like = [](const Dims& shape, const Attrs&) { return std::vector<Dims>{shape}; },
    .check_values = check_groups,
    .corner_points = [](const Attrs& attrs, DType) -> std::vector<double> {
      return {attrs.number("limit"), -attrs.number("limit")};
    },
    .takes_functions = true,
}};

const RegisteredOp registered_grad{{
    .name = kGradName,
    .ir_name = "NpuClippedSwigluBackward",
    .summary = "da = dy*(b + bias)*s*(1 + alpha*a*(1 - s)), s = sigmoid(alpha*a), db = dy*a*s; 0 "
               "where a or b is clipped",
    .source = "the derivative of clipped_swiglu",
    .known_as = {.not_recorded = "torch_npu has no gradient of this operator"},
    .inputs = {{"grad_output", "grads/grads_0"}, {"self"}, kGroups},
    .outputs = {{"grad_input", "grad_inputs/grad_inputs_0"}},
    .optional_inputs = 1,
    .attrs = attributes(),
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer_grad,
    .reference = reference_grad<Slopes>,
    .terms =
        [](std::span<const InputReader> inputs, const Attrs& attrs) {
          return Terms{.magnitude = reference_grad<SlopeTerms>(inputs, attrs),
                       .greatest = reference_grad<Products>(inputs, attrs)};
        },
    .traffic =
        [](const Problem& problem) {
          Traffic traffic = movement_traffic(problem);
          traffic.operations = 24 * double(problem.inputs[0].elements());
          return traffic;
        },
    .inputs_like =
        [](const Dims& shape, const Attrs& attrs) {
          return std::vector<Dims>{clipped_pairs(kGradName, shape, attrs).result, shape};
        },
    .check_values = check_groups,
    .corner_points = [](const Attrs& attrs, DType) -> std::vector<double> {
      return {attrs.number("limit"), -attrs.number("limit")};
    },
    .takes_functions = true,
}};

}  // namespace

GatePairs clipped_pairs(std::string_view op, const Dims& shape, const Attrs& attrs) {
  return {op, shape, attrs.integer("dim"), attrs.flag("interleaved")};
}

std::int64_t live_pairs(const GatePairs& pairs, std::span<const std::int64_t> group_index) {
  const std::int64_t rows =
      std::accumulate(group_index.begin(), group_index.end(), std::int64_t{0});
  return pairs.outer == 0 ? 0 : std::min(rows, pairs.outer) * (pairs.count() / pairs.outer);
}

}  // namespace opbench
