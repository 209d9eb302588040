// The p-norm over axes, which clips gradients and normalises vectors, and its gradient.
#include "ops/norm.h"

#include <fmt/format.h>

#include <algorithm>
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

std::vector<double> extremes(const InputReader& x, const Attrs& attrs) {
  const NormOrder order(attrs);
  return joined_over(
      x, reduced_axes(kName, x.desc().shape, attrs), order.first(),
      [order](double extreme, double value) { return order.joined(extreme, std::fabs(value)); });
}

/// The sums of the powers, each passed through `function`.
template <class Function>
Reference of_sums(std::span<const InputReader> inputs, const Attrs& attrs, Function function) {
  const NormOrder order(attrs);
  std::vector<double> sums =
      sums_over(inputs[0], reduced_axes(kName, inputs[0].desc().shape, attrs),
                [p = order.p](double x) { return power_of_magnitude(x, p); });
  for (double& sum : sums) sum = function(sum, order);
  return elements_of({std::move(sums)});
}

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const double least = attrs.number("epsilon");
  const auto at_least = [least](double norm) { return norm < least ? least : norm; };
  if (!NormOrder(attrs).is_extreme()) {
    return of_sums(inputs, attrs, [at_least](double sum, const NormOrder& order) {
      return at_least(order.root_of(sum));
    });
  }
  std::vector<double> norms = extremes(inputs[0], attrs);
  std::transform(norms.begin(), norms.end(), norms.begin(), at_least);
  return elements_of({std::move(norms)});
}

// In fp32 the powers of small elements underflow to 0.
Terms terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  const double lost = reduced_count(kName, inputs[0].desc().shape, attrs) *
                      double(std::numeric_limits<float>::min());
  if (NormOrder(attrs).is_extreme()) return {.magnitude = constant_reference(0)};
  const auto magnitude = [lost](double sum, const NormOrder& order) {
    const double y = order.root_of(sum), p = order.p;
    const double steep = p < 1 && p != 0 ? std::fmax(1, 1 / std::fabs(p)) : 1;  // slope of the root
    return p <= 1 ? steep * y : y + 0x1p24 * (order.root_of(sum + lost) - y);
  };
  return {.magnitude = of_sums(inputs, attrs, magnitude),
          .greatest = of_sums(inputs, attrs, [](double sum, const NormOrder& order) {
            return std::fmax(sum, order.root_of(sum));
          })};
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  TensorDesc norms = describe(inputs[0].dtype, reduced_shape(kName, inputs[0].shape, attrs));
  if (NormOrder(attrs).is_extreme() && inputs[0].elements() == 0 && norms.elements() > 0) {
    throw Error(
        fmt::format("{}: 'self' has shape {} and p is infinite; allowed: axes with elements", kName,
                    to_string(inputs[0].shape)));
  }
  return {norms};
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

Reference reference_grad(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Dims& shape = inputs[1].desc().shape;
  const Dims strides = row_major_strides(shape);
  const Dims from = strides_in_result(shape, reduced_axes(kGradName, shape, attrs));
  const auto place = [strides, from](std::size_t i) {
    return static_cast<std::size_t>(place_in_result(static_cast<std::int64_t>(i), strides, from));
  };
  const std::vector<double> norm = inputs[2].read_all();
  const NormOrder order(attrs);
  std::vector<double> equals(norm.size());
  if (order.is_extreme()) {
    const std::vector<double> x = inputs[1].read_all();
    for (std::size_t i = 0; i < x.size(); ++i) {
      equals[place(i)] += std::fabs(x[i]) == norm[place(i)] ? 1 : 0;
    }
  }
  return [x = inputs[1], dy = inputs[0].read_all(), norm, equals, place, order](
             std::size_t, ElementRange range, std::span<double> to) {
    x.read(range, to);
    for (std::size_t i = 0; i < to.size(); ++i) {
      const std::size_t at = place(static_cast<std::size_t>(range.first) + i);
      to[i] = dy[at] * order.slope(to[i], norm[at], equals[at]);
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
  attrs.insert(attrs.begin(), {"p", 2.0,
                               "the order; 0 counts elements that are not 0; inf and -inf: "
                               "the greatest and the smallest magnitude"});
  return attrs;
}

std::vector<AttrSpec> attributes_with_epsilon() {
  std::vector<AttrSpec> attrs = attributes();
  attrs.push_back({"epsilon", 0.0, "the least result"});
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
    .summary = "y = (the sum of |x|^p over the axes)^(1/p), at least epsilon",
    .source = "torch.linalg.vector_norm; CANN LpNormV2",
    .known_as = {.calls = {{"norm_ScalarOpt_dim, norm_ScalarOpt_dim_dtype, norm, "
                            "linalg_vector_norm",
                            "self",
                            "result|out",
                            {.attrs = "p: p|ord, axes: dim, keep_dims: keepdim"}},
                           {"LpNormV2, LpNorm, LpNormReduceV2",  // the last: before the root
                            "x",
                            "y",
                            {.attrs = "p, axes, keep_dims: keep_dims|keepdim, epsilon",
                             .is_profiled_only = true}}},
                 .profiled = {{.names = "ForeachNorm", .each = "LpNormV2", .lists = 1}},
                 .torch = "torch.linalg.vector_norm({0}, {p}, {axes} or None, {keep_dims})",
                 .likely = likely_of_mean},
    .inputs = {{"self", "self", {}, unit_data}},
    .outputs = {{"result"}},
    .attrs = attributes_with_epsilon(),
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer,
    .reference = reference,
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
