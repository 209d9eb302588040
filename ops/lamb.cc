// LAMB: the direction of AdamW, scaled for each tensor by the norms of the parameters and of
// itself.
#include <algorithm>
#include <cmath>

#include "ops/adam.h"
#include "ops/movement.h"
#include "ops/optimizer.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "lamb";

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs&) {
  return std::vector<TensorDesc>(3, infer_elementwise(kName, inputs)[0]);
}

double norm_of(const std::vector<double>& values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  return std::sqrt(squares);
}

/// The elements with updated means, and the direction of the step with its terms.
struct Steps {
  std::vector<double> p, m, v, direction, terms_p, terms_m, terms_v, terms_direction;
  double lr, rate;  ///< of the case, and after scaling

  Steps(std::span<const InputReader> inputs, const Attrs& attrs) : lr(attrs.number("lr")) {
    AdamAttrs of(attrs);
    of.lr = 1;
    p = inputs[0].read_all();
    const std::vector<double> g = inputs[1].read_all();
    m = inputs[2].read_all(), v = inputs[3].read_all();
    terms_p.resize(p.size());
    direction = terms_m = terms_v = terms_direction = terms_p;
    for (std::size_t i = 0; i < p.size(); ++i) {
      const AdamElement e{p[i], g[i], m[i], v[i], 0};
      const AdamElement after = adam_update(of, false, e), terms = adam_terms(of, false, e);
      m[i] = after.m, v[i] = after.v, direction[i] = p[i] - after.p;
      terms_m[i] = terms.m, terms_v[i] = terms.v;
      terms_direction[i] = terms.p - std::fabs(p[i]);
    }
    scale(of.weight_decay != 0 || attrs.flag("use_nvlamb"));
  }

  // The norm of the direction changes by that of the changes of its elements.
  void scale(bool is_scaled) {
    const double of_p = norm_of(p), of_direction = norm_of(direction);
    const bool has_ratio = is_scaled && of_p > 0 && of_direction > 0;
    rate = has_ratio ? lr * of_p / of_direction : lr;
    const double relative = has_ratio ? 1 + norm_of(terms_direction) / of_direction : 0;
    for (std::size_t i = 0; i < p.size(); ++i) {
      const double terms = terms_direction[i] + relative * std::fabs(direction[i]);
      terms_p[i] = std::fabs(p[i]) + rate * terms;
      p[i] -= rate * direction[i];
    }
  }
};

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  Steps steps(inputs, attrs);
  return elements_of({std::move(steps.p), std::move(steps.m), std::move(steps.v)});
}

Terms terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  Steps steps(inputs, attrs);
  return {.magnitude = elements_of(
              {std::move(steps.terms_p), std::move(steps.terms_m), std::move(steps.terms_v)})};
}

// Those of AdamW without switches, with the numbers of BERT's training.
std::vector<AttrSpec> attributes() {
  std::vector<AttrSpec> all = adam_attrs();
  std::erase_if(all, [](const AttrSpec& spec) {
    return spec.name == "decoupled" || spec.name == "maximize" || spec.name == "found_inf";
  });
  for (AttrSpec& spec : all) {
    if (spec.name == "eps") spec.default_value = double(1e-6f);
    if (spec.name == "weight_decay") spec.default_value = double(0.01f);
  }
  all.push_back({"use_nvlamb", false, "the rate is scaled without weight decay too"});
  return all;
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = kName,
    .summary = "u = m/(1-b1^t) / (sqrt(v/(1-b2^t)) + eps) + wd*p with the means of adam; "
               "p -= lr |p|/|u| u, or lr u if a norm is 0 or wd is 0",
    .source = "You et al. 2020, arXiv:1904.00962; NVIDIA apex FusedLAMB",
    .known_as = {.not_recorded = "dumps hold its element-wise steps"},
    .inputs = adam_inputs(),
    .outputs = {{"parameters_out"}, {"exp_avg_out"}, {"exp_avg_sq_out"}},
    .attrs = attributes(),
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer,
    .reference = reference,
    .terms = terms,
    .traffic = update_traffic<20>,
    .mixing = Mixing::other,
    .adds_to_first = true,
    .holds_fp32 = true,
}};

}  // namespace
}  // namespace opbench
