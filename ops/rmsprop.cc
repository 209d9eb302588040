#include "ops/rmsprop.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "ops/matmul.h"
#include "ops/optimizer.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "rmsprop";
constexpr std::size_t kBuffer = 3, kMean = 4;  // optional inputs

// Each state becomes an output like it; one that is not given stays without elements.
std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  std::vector<TensorDesc> alike(inputs.begin(), inputs.end());
  for (std::size_t i = kBuffer; i < alike.size(); ++i) {
    if (!is_given(inputs, i)) alike[i] = inputs[0];
  }
  infer_elementwise(kName, alike);
  if (const double momentum = attrs.number("momentum");
      momentum > 0 && !is_given(inputs, kBuffer)) {
    throw Error(fmt::format("{}: momentum is {} without 'momentum_buffer'; give it, or momentum=0",
                            kName, static_cast<float>(momentum)));
  }
  std::vector<TensorDesc> outputs(inputs.begin(), inputs.end());
  outputs.erase(outputs.begin() + 1);
  return outputs;
}

/// One element of the parameters, gradient, mean of squares, momentum and mean of the gradient.
using Inputs = std::array<double, 5>;
using Outputs = std::array<double, 4>;  ///< without the gradient

/// The update of one element.
struct Update {
  RmspropAttrs a;
  bool has_buffer, is_centered;

  Update(std::span<const InputReader> inputs, const Attrs& attrs)
      : a(attrs), has_buffer(is_given(inputs, kBuffer)), is_centered(is_given(inputs, kMean)) {}

  double decayed(double p, double g) const { return (a.maximizes ? -g : g) + a.weight_decay * p; }
  double root_of(double v, double mean) const {
    return v - (is_centered ? mean * mean : 0) + (a.eps_in_root ? a.eps : 0);
  }
  double divisor(double v, double mean) const {
    return std::sqrt(root_of(v, mean)) + (a.eps_in_root ? 0 : a.eps);
  }

  Outputs operator()(const Inputs& x) const {
    auto [p, g, v, buffer, mean] = x;
    g = decayed(p, g);
    v = a.alpha * v + (1 - a.alpha) * g * g;
    mean = a.alpha * mean + (1 - a.alpha) * g;
    const double step = a.inner * g / divisor(v, mean);
    buffer = a.momentum * buffer + step;
    return {p - a.outer * (has_buffer ? buffer : step), v, buffer, mean};
  }

  // The sums of magnitudes. A mean is computed as such or as x + (y - x)(1 - alpha). A centered
  // root is a difference.
  Outputs terms(const Inputs& x) const {
    const auto& [p, g0, v0, buffer, mean0] = x;
    const Outputs after = (*this)(x);
    const double g = std::fabs(g0) + std::fabs(a.weight_decay * p);
    const double v = v0 + g * g, mean = std::fabs(mean0) + g;
    const double root = root_of(after[1], after[3]);
    const double of_root = v + (is_centered ? mean * mean : 0) + (a.eps_in_root ? a.eps : 0);
    const double of_step = a.inner / divisor(after[1], after[3]) *
                           (g + std::fabs(decayed(p, g0)) * (1 + of_root / root));
    const double of_buffer = std::fabs(a.momentum * buffer) + of_step;
    return {std::fabs(p) + a.outer * of_buffer, v, of_buffer, mean};
  }
};

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  return update_reference(inputs, Update(inputs, attrs));
}

Terms terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  const auto terms_of = [update = Update(inputs, attrs)](const Inputs& x) {
    return update.terms(x);
  };
  return {.magnitude = update_reference(inputs, terms_of)};
}

// With these data the mean of squares exceeds the square of the mean.
Distribution large_squares(const Problem&) { return {DistributionKind::uniform, 0.5, 1}; }
Distribution small_means(const Problem&) { return {DistributionKind::uniform, -0.5, 0.5}; }

const RegisteredOp registered{{
    .name = kName,
    .ir_name = kName,
    .summary = "v = alpha v + (1-alpha) g^2; b = momentum b + g/(sqrt(v) + eps); p -= lr b; "
               "g += wd*p before; centered with a mean m of the gradient: sqrt(v - m^2)",
    .source = "torch.optim.RMSprop; Hinton, Neural Networks for Machine Learning, lecture 6e; "
              "CANN ApplyRMSProp, ApplyCenteredRMSProp",
    .known_as = {.not_recorded = "dumps hold its element-wise steps",
                 .calls = {{"ApplyRMSProp, ApplyRMSPropD",
                            "var, grad, ms, mom",
                            "var, ms, mom",
                            {.attrs = "lr, alpha: rho, eps: epsilon, momentum, tensorflow: =true",
                             .is_profiled_only = true}},
                           {"ApplyCenteredRMSProp",
                            "var, grad, ms, mom, mg",
                            "var, ms, mom, mg",
                            {.attrs = "lr, alpha: rho, eps: epsilon, momentum, tensorflow: =true",
                             .is_profiled_only = true}}},
                 .profiled = {{"ApplyRMSProp", "var, ms, mom, , , , , grad", "var"},
                              {"ApplyRMSPropD", "var, ms, mom, , grad", "var, ms, mom"},
                              {"ApplyCenteredRMSProp", "var, mg, ms, mom, , , , , grad", "var"}}},
    .inputs = {{"parameters", "parameters", {}, unit_data},
               {"gradient", "gradient", {}, unit_data},
               {"square_avg", "square_avg", {}, large_squares},
               {"momentum_buffer", "momentum_buffer", {}, unit_data},
               {"grad_avg", "grad_avg", {}, small_means}},
    .outputs = {{"parameters_out"}, {"square_avg_out"}, {"momentum_buffer_out"}, {"grad_avg_out"}},
    .optional_inputs = 2,
    .attrs = {{"lr", double(1e-2f), "learning rate", not_negative},
              {"alpha", double(0.99f), "weight of the old means", share},
              {"eps", double(1e-8f), "added to the root", not_negative},
              {"weight_decay", 0.0, "wd", not_negative},
              {"momentum", 0.0, "weight of the old buffer", not_negative},
              {"maximize", false, "g = -g"},
              {"tensorflow", false,
               "eps is added below the root, the buffer holds steps times lr"}},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainAnd5hd,
    .infer = infer,
    .reference = reference,
    .terms = terms,
    .traffic = update_traffic<14>,
    .adds_to_first = true,
}};

}  // namespace

RmspropAttrs::RmspropAttrs(const Attrs& attrs)
    : inner(attrs.flag("tensorflow") ? attrs.number("lr") : 1),
      outer(attrs.flag("tensorflow") ? 1 : attrs.number("lr")),
      alpha(attrs.number("alpha")),
      eps(attrs.number("eps")),
      momentum(attrs.number("momentum")),
      weight_decay(attrs.number("weight_decay")),
      eps_in_root(attrs.flag("tensorflow")),
      maximizes(attrs.flag("maximize")) {}

}  // namespace opbench
