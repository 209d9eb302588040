// Local response normalisation across channels, and its gradient.
#include "ops/lrn.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/elementwise.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "tensor/dtype.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "lrn", kGradName = "lrn_grad";

using Numbers = std::vector<double>;

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  static_cast<void>(Lrn(kName, "self", inputs[0], attrs));
  return {inputs[0]};
}

std::vector<TensorDesc> infer_grad(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  infer_elementwise(kGradName, inputs);
  static_cast<void>(Lrn(kGradName, "self", inputs[1], attrs));
  return {inputs[0]};
}

/// The elements of a tensor as sums over windows.
struct Windows {
  Lrn of;

  // The sum of `values` from `before` channels before to `after` channels after each.
  Numbers sums(const Numbers& values, std::int64_t before, std::int64_t after) const {
    const auto& [outer, channels, inner] = of.view;
    Numbers result(values.size());
    for (std::int64_t row = 0; row < outer * channels; ++row) {
      const std::int64_t c = row % channels;
      const std::int64_t first = std::max(-before, -c), last = std::min(after, channels - 1 - c);
      for (std::int64_t other = row + first; other <= row + last; ++other) {
        for (std::int64_t i = 0; i < inner; ++i) {
          result[static_cast<std::size_t>(row * inner + i)] +=
              values[static_cast<std::size_t>(other * inner + i)];
        }
      }
    }
    return result;
  }
  Numbers around(const Numbers& values) const { return sums(values, of.before, of.after); }
  /// The sum over the windows that contain each element.
  Numbers of_windows(const Numbers& values) const { return sums(values, of.after, of.before); }

  Numbers squares(const Numbers& x) const {
    Numbers result(x.size());
    std::transform(x.begin(), x.end(), result.begin(), [](double value) { return value * value; });
    return around(result);
  }
};

// The sum of the terms of s and of its power, relative to it.
double relative_terms(const Lrn& of, double squares) {
  const double s = of.k + of.scale * squares;
  const double terms = (std::fabs(of.k) + std::fabs(of.scale) * squares) / std::fabs(s);
  return 1 + std::fabs(of.beta) * (terms + std::fabs(std::log(s)));
}

// Squares beyond the dtype become Inf on the way: the power is infinite, and its share of a result
// is lost.
double lost_share(double squares, DType dtype) {
  return squares > largest_finite(dtype) ? 1 / epsilon_of(dtype) : 1;
}

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Windows windows{Lrn(kName, "self", inputs[0].desc(), attrs)};
  Numbers x = inputs[0].read_all();
  const Numbers squares = windows.squares(x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] *= std::pow(windows.of.k + windows.of.scale * squares[i], -windows.of.beta);
  }
  return elements_of({std::move(x)});
}

Terms terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Windows windows{Lrn(kName, "self", inputs[0].desc(), attrs)};
  const Lrn& of = windows.of;
  Numbers x = inputs[0].read_all();
  Numbers squares = windows.squares(x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double y = std::fabs(x[i]) * std::pow(of.k + of.scale * squares[i], -of.beta);
    x[i] = y * relative_terms(of, squares[i]) * lost_share(squares[i], inputs[0].desc().dtype);
  }
  return {.magnitude = elements_of({std::move(x)}), .greatest = elements_of({std::move(squares)})};
}

Reference reference_grad(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Windows windows{Lrn(kGradName, "self", inputs[1].desc(), attrs)};
  const Lrn& of = windows.of;
  Numbers dy = inputs[0].read_all();
  const Numbers x = inputs[1].read_all(), y = inputs[2].read_all(), squares = windows.squares(x);
  Numbers shares(dy.size());
  for (std::size_t i = 0; i < dy.size(); ++i) {
    const double s = of.k + of.scale * squares[i];
    shares[i] = dy[i] * y[i] / s;
    dy[i] *= std::pow(s, -of.beta);
  }
  const Numbers sums = windows.of_windows(shares);
  for (std::size_t i = 0; i < dy.size(); ++i) dy[i] -= 2 * of.scale * of.beta * x[i] * sums[i];
  return elements_of({std::move(dy)});
}

Terms terms_grad(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Windows windows{Lrn(kGradName, "self", inputs[1].desc(), attrs)};
  const Lrn& of = windows.of;
  Numbers direct = inputs[0].read_all();
  const Numbers x = inputs[1].read_all(), y = inputs[2].read_all(), squares = windows.squares(x);
  Numbers shares(x.size()), products(x.size()), greatest(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double s = of.k + of.scale * squares[i], power = std::pow(s, -of.beta);
    const double terms =
        relative_terms(of, squares[i]) * lost_share(squares[i], inputs[0].desc().dtype);
    const double product = std::fabs(direct[i] * y[i]);
    shares[i] = product / s * terms;
    products[i] = product * std::max({1.0, power, power / s}) + squares[i];
    direct[i] = std::fabs(direct[i]) * power * terms;
  }
  const Numbers sums = windows.of_windows(shares), sizes = windows.of_windows(products);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double factor = 2 * std::fabs(of.scale * of.beta * x[i]);
    direct[i] += factor * sums[i];
    greatest[i] = std::max({1.0, std::fabs(x[i]), factor}) * sizes[i];
  }
  return {.magnitude = elements_of({std::move(direct)}),
          .greatest = elements_of({std::move(greatest)})};
}

// A square and a sum over the window for each sum of windows, and the power.
template <int kWindows>
Traffic traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  const double of_element = kWindows * (1 + double(problem.attrs.integer("size"))) + 12;
  traffic.operations = of_element * double(problem.outputs[0].elements());
  return traffic;
}

std::vector<GradientCall> gradient(const Problem&) {
  return {{kGradName,
           {{GradientArg::output_gradient, 0}, {GradientArg::input, 0}, {GradientArg::output, 0}}}};
}

std::vector<AttrSpec> attributes() {
  return {{"size", std::int64_t{5}, "channels of a window; size/2 of them before its own",
           [](const AttrValue& value) -> std::string {
             return std::get<std::int64_t>(value) >= 1 ? "" : "it must be 1 or more";
           }},
          {"alpha", double(1e-4f), "factor of the mean of squares; CANN's alpha is alpha/size"},
          {"beta", 0.75, "exponent"},
          {"k", 1.0, "added; CANN's bias"}};
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "local_response_norm",
    .summary = "y = x / (k + alpha/size * the sum of x^2 over `size` channels around each)^beta",
    .source = "torch.nn.functional.local_response_norm; Krizhevsky et al. 2012; CANN LRN",
    .known_as = {.calls = {{"local_response_norm",
                            "input",
                            "result",
                            {.attrs = "size, alpha, beta, k", .needs = "size"}},
                           {"LRN", "x", "y", {.is_profiled_only = true}}},
                 .torch = "F.local_response_norm({0}, {size}, {alpha}, {beta}, {k})"},
    .inputs = {{"self", "input"}},
    .outputs = {{"result"}},
    .attrs = attributes(),
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer,
    .reference = reference,
    .terms = terms,
    .traffic = traffic<1>,
    .gradient = gradient,
    .mixing = Mixing::other,
    .takes_functions = true,
}};

const RegisteredOp registered_grad{{
    .name = kGradName,
    .ir_name = "LRNGrad",
    .summary = "dx = dy/s^beta - 2 alpha/size beta x * the sum of dy*y/s over the windows that "
               "contain the element; y = x/s^beta",
    .source = "CANN LRNGrad; torch.nn.functional.local_response_norm backward",
    .known_as = {.not_recorded = "dumps hold its element-wise steps",
                 .calls = {{"LRNGrad", "grads, x, y", "z", {.is_profiled_only = true}}}},
    .inputs = {{"grad_output", "grads/grads_0"}, {"self"}, {"result", "result"}},
    .outputs = {{"grad_input", "grad_inputs/grad_inputs_0"}},
    .attrs = attributes(),
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer_grad,
    .reference = reference_grad,
    .terms = terms_grad,
    .traffic = traffic<2>,
    .mixing = Mixing::other,
    .takes_functions = true,
}};

}  // namespace

Lrn::Lrn(std::string_view op, std::string_view input, const TensorDesc& desc, const Attrs& attrs)
    : beta(attrs.number("beta")), k(attrs.number("k")) {
  if (desc.shape.size() < 3) {
    throw Error(fmt::format("{}: '{}' has shape {}; allowed: [N, C, ...] with three axes or more",
                            op, input, to_string(desc.shape)));
  }
  view = channel_view(op, input, desc);
  const std::int64_t size = attrs.integer("size");
  before = size / 2, after = (size - 1) / 2;
  scale = attrs.number("alpha") / double(size);
}

}  // namespace opbench
