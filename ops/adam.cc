#include "ops/adam.h"

#include <algorithm>
#include <cmath>

#include "ops/matmul.h"
#include "ops/optimizer.h"

namespace opbench {
namespace {

constexpr std::size_t kMost = 5;  // inputs, with the greatest v

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs&) {
  const TensorDesc desc = infer_elementwise("adam", inputs)[0];
  return std::vector<TensorDesc>(inputs.size() - 1, desc);
}

using Element = AdamElement;

// A switch that LAMB does not have.
bool flag_or(const Attrs& attrs, const char* name, bool absent) {
  const auto found = attrs.values().find(name);
  return found == attrs.values().end() ? absent : std::get<bool>(found->second);
}

// The sum of the terms of 1 - x, relative to it.
double relative_terms(double one_minus_x) { return (2 - one_minus_x) / one_minus_x; }

template <Element (*kUpdate)(const AdamAttrs& a, bool has_greatest, Element e)>
Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  return update_reference(
      inputs, [of = AdamAttrs(attrs), has_greatest = inputs.size() == kMost](const auto& x) {
        const Element e = kUpdate(of, has_greatest, {x[0], x[1], x[2], x[3], x[4]});
        return std::array{e.p, e.m, e.v, e.greatest};
      });
}

std::string below_one(const AttrValue& value) {
  const double beta = std::get<double>(value);
  return beta >= 0 && beta < 1 ? "" : "it must be from 0 to less than 1";
}
std::string no_divisor(const AttrValue& value) {
  return std::get<double>(value) > 0 ? "" : "it must be above 0";
}
std::string positive(const AttrValue& value) {
  return std::get<std::int64_t>(value) >= 1 ? "" : "it must be 1 or more";
}

std::vector<TensorSpec> inputs() {
  std::vector<TensorSpec> all = adam_inputs();
  all.push_back({"max_exp_avg_sq", "max_exp_avg_sq", {}, squares});
  return all;
}

const RegisteredOp registered{{
    .name = "adam",
    .ir_name = "adam",
    .summary = "m = b1 m + (1-b1) g; v = b2 v + (1-b2) g^2; p -= lr/(1-b1^t) m/(sqrt(v/(1-b2^t)) + "
               "eps); g += wd*p before, or decoupled p -= lr*wd*p; amsgrad: the greatest v so far",
    .source = "torch.optim.Adam, AdamW; Kingma and Ba 2015, arXiv:1412.6980; CANN ApplyAdamD, "
              "ApplyAdamWV2; AMSGrad: Reddi et al. 2018, arXiv:1904.09237",
    .known_as =
        {.not_recorded = "dumps hold its element-wise steps",
         .calls = {{"ApplyAdamW, ApplyAdamWV2",
                    "var, grad, m, v, max_grad_norm?",
                    "var, m, v, max_grad_norm",
                    {.attrs = "decoupled: =true, lr, beta1, beta2, eps: epsilon, weight_decay, "
                              "maximize",
                     .is_profiled_only = true}},
                   {"ApplyAdam, ApplyAdamD",
                    "var, grad, m, v",
                    "var, m, v",
                    {.attrs = "lr, beta1, beta2, eps: epsilon", .is_profiled_only = true}}},
         .profiled = {{"ApplyAdamW", "var, m, v, , , , , , , , grad", "var, m, v"},
                      {"ApplyAdamWV2", "var, m, v, grad, , max_grad_norm",
                       "var, m, v, max_grad_norm"},
                      {"ApplyAdam, ApplyAdamD", "var, m, v, , , , , , , grad", "var, m, v"}}},
    .inputs = inputs(),
    .outputs = {{"parameters_out"}, {"exp_avg_out"}, {"exp_avg_sq_out"}, {"max_exp_avg_sq_out"}},
    .optional_inputs = 1,
    .attrs = adam_attrs(),
    .dtypes = kArithmeticDTypes,
    .formats = kPlainAnd5hd,
    .infer = infer,
    .reference = reference<adam_update>,
    .terms =
        [](std::span<const InputReader> inputs, const Attrs& attrs) {
          return Terms{.magnitude = reference<adam_terms>(inputs, attrs)};
        },
    .traffic = update_traffic<14>,
    .adds_to_first = true,
}};

}  // namespace

AdamElement adam_update(const AdamAttrs& a, bool has_greatest, AdamElement e) {
  if (a.is_skipped) return e;
  e.g *= (a.maximizes ? -1 : 1) / a.grad_scale;
  if (a.is_decoupled) {
    e.p -= a.lr * a.weight_decay * e.p;
  } else if (a.weight_decay != 0) {
    e.g += a.weight_decay * e.p;
  }
  e.m = a.beta1 * e.m + (1 - a.beta1) * e.g;
  e.v = a.beta2 * e.v + (1 - a.beta2) * e.g * e.g;
  if (!(std::isnan(e.greatest) || e.greatest > e.v)) e.greatest = e.v;
  const double v = has_greatest ? e.greatest : e.v;
  e.p -= a.lr / a.correction1 * e.m / (std::sqrt(v) / std::sqrt(a.correction2) + a.eps);
  return e;
}

AdamElement adam_terms(const AdamAttrs& a, bool has_greatest, AdamElement e) {
  const AdamElement after = adam_update(a, has_greatest, e);
  if (a.is_skipped) return after;
  const double g =
      std::fabs(e.g / a.grad_scale) + (a.is_decoupled ? 0 : std::fabs(a.weight_decay * e.p));
  const double m = a.beta1 * std::fabs(e.m) + g, v = a.beta2 * e.v + g * g;
  const double root_of = has_greatest ? after.greatest : after.v;
  const double divisor = std::sqrt(root_of / a.correction2) + a.eps;
  const double of_root = root_of > 0 ? std::max(v, root_of) / root_of : 0;
  const double relative =
      relative_terms(a.correction1) + (relative_terms(a.correction2) + of_root) / 2;
  const double step = a.lr / a.correction1 / divisor * (m + std::fabs(after.m) * relative);
  const double decayed = std::fabs(e.p) * (1 + (a.is_decoupled ? a.lr * a.weight_decay : 0));
  return {decayed + step, g, m, v, std::max(v, after.greatest)};
}

std::vector<AttrSpec> adam_attrs() {
  return {{"lr", double(1e-3f), "learning rate", not_negative},
          {"beta1", double(0.9f), "weight of the old mean of the gradient", below_one},
          {"beta2", double(0.999f), "weight of the old mean of its square", below_one},
          {"eps", double(1e-8f), "added to the root", not_negative},
          {"weight_decay", 0.0, "wd", not_negative},
          {"decoupled", false, "weight decay acts on the parameters only (AdamW)"},
          {"bias_correction", true, "divide by 1 - beta^t; BertAdam does not"},
          {"step", std::int64_t{1}, "t, counted from 1", positive},
          {"maximize", false, "g = -g"},
          {"grad_scale", 1.0, "g is divided by it first", no_divisor},
          {"found_inf", false, "the gradient overflowed: nothing changes"}};
}

std::vector<TensorSpec> adam_inputs() {
  return {{"parameters", "parameters", {}, unit_data},
          {"gradient", "gradient", {}, unit_data},
          {"exp_avg", "exp_avg", {}, unit_data},
          {"exp_avg_sq", "exp_avg_sq", {}, squares}};
}

AdamAttrs::AdamAttrs(const Attrs& attrs)
    : lr(attrs.number("lr")),
      beta1(attrs.number("beta1")),
      beta2(attrs.number("beta2")),
      eps(attrs.number("eps")),
      weight_decay(attrs.number("weight_decay")),
      grad_scale(attrs.number("grad_scale")),
      is_decoupled(flag_or(attrs, "decoupled", true)),
      maximizes(flag_or(attrs, "maximize", false)),
      is_skipped(flag_or(attrs, "found_inf", false)) {
  if (!attrs.flag("bias_correction")) return;
  const auto step = double(attrs.integer("step"));
  correction1 = 1 - std::pow(beta1, step);
  correction2 = 1 - std::pow(beta2, step);
}

}  // namespace opbench
