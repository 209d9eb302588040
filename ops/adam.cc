#include "ops/adam.h"

#include <cmath>

#include "ops/elementwise.h"
#include "ops/matmul.h"

namespace opbench {
namespace {

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs&) {
  const TensorDesc desc = infer_elementwise("adam", inputs)[0];
  return {desc, desc, desc};
}

/// One element of the parameters with its gradient and moments.
struct Element {
  double p, g, m, v;
};

Element updated(const AdamAttrs& a, Element e) {
  if (a.is_decoupled) {
    e.p -= a.lr * a.weight_decay * e.p;
  } else if (a.weight_decay != 0) {
    e.g += a.weight_decay * e.p;
  }
  e.m = a.beta1 * e.m + (1 - a.beta1) * e.g;
  e.v = a.beta2 * e.v + (1 - a.beta2) * e.g * e.g;
  e.p -= a.lr / a.correction1 * e.m / (std::sqrt(e.v) / std::sqrt(a.correction2) + a.eps);
  return e;
}

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  return [inputs = std::vector(inputs.begin(), inputs.end()), of = AdamAttrs(attrs)](
             std::size_t output, ElementRange range, std::span<double> to) {
    std::vector<double> values[4];
    for (std::size_t i = 0; i < 4; ++i) {
      values[i].resize(to.size());
      inputs[i].read(range, values[i]);
    }
    for (std::size_t i = 0; i < to.size(); ++i) {
      const Element e = updated(of, {values[0][i], values[1][i], values[2][i], values[3][i]});
      to[i] = output == 0 ? e.p : output == 1 ? e.m : e.v;
    }
  };
}

Traffic traffic(const Problem& problem) {
  Traffic traffic = elementwise_traffic(problem, 14);
  traffic.bytes_written *= 3;
  return traffic;
}

std::string not_negative(const AttrValue& value) {
  return std::get<double>(value) >= 0 ? "" : "it must be 0 or more";
}
std::string below_one(const AttrValue& value) {
  const double beta = std::get<double>(value);
  return beta >= 0 && beta < 1 ? "" : "it must be from 0 to less than 1";
}
std::string positive(const AttrValue& value) {
  return std::get<std::int64_t>(value) >= 1 ? "" : "it must be 1 or more";
}

// The means of squares; they are not negative.
Distribution squares(const Problem&) { return {DistributionKind::uniform, 0, 1}; }

const RegisteredOp registered{{
    .name = "adam",
    .ir_name = "adam",
    .summary = "m = b1 m + (1-b1) g; v = b2 v + (1-b2) g^2; p -= lr/(1-b1^t) m/(sqrt(v/(1-b2^t)) + "
               "eps); g += wd*p before, or decoupled p -= lr*wd*p",
    .source = "torch.optim.Adam, AdamW; Kingma and Ba 2015, arXiv:1412.6980; CANN ApplyAdamD",
    .known_as =
        {.not_recorded = "dumps hold its element-wise steps",
         .calls = {{"ApplyAdamW, ApplyAdamWV2",
                    "var, grad, m, v",
                    "var, m, v",
                    {.attrs = "decoupled: =true, lr, beta1, beta2, eps: epsilon, weight_decay",
                     .is_profiled_only = true}},
                   {"ApplyAdam, ApplyAdamD",
                    "var, grad, m, v",
                    "var, m, v",
                    {.attrs = "lr, beta1, beta2, eps: epsilon", .is_profiled_only = true}}},
         .profiled = {{"ApplyAdamW", "var, m, v, , , , , , , , grad", "var, m, v"},
                      {"ApplyAdamWV2", "var, m, v, grad", "var, m, v"},
                      {"ApplyAdam, ApplyAdamD", "var, m, v, , , , , , , grad", "var, m, v"}}},
    .inputs = {{"parameters", "parameters", {}, unit_data},
               {"gradient", "gradient", {}, unit_data},
               {"exp_avg", "exp_avg", {}, unit_data},
               {"exp_avg_sq", "exp_avg_sq", {}, squares}},
    .outputs = {{"parameters_out"}, {"exp_avg_out"}, {"exp_avg_sq_out"}},
    .attrs = {{"lr", double(1e-3f), "learning rate", not_negative},
              {"beta1", double(0.9f), "weight of the old mean of the gradient", below_one},
              {"beta2", double(0.999f), "weight of the old mean of its square", below_one},
              {"eps", double(1e-8f), "added to the root", not_negative},
              {"weight_decay", 0.0, "wd", not_negative},
              {"decoupled", false, "weight decay acts on the parameters only (AdamW)"},
              {"bias_correction", true, "divide by 1 - beta^t; BertAdam does not"},
              {"step", std::int64_t{1}, "t, counted from 1", positive}},
    .dtypes = {DType::fp32, DType::fp16},
    .formats = kPlainAnd5hd,
    .infer = infer,
    .reference = reference,
    .traffic = traffic,
    .adds_to_first = true,
}};

}  // namespace

AdamAttrs::AdamAttrs(const Attrs& attrs)
    : lr(attrs.number("lr")),
      beta1(attrs.number("beta1")),
      beta2(attrs.number("beta2")),
      eps(attrs.number("eps")),
      weight_decay(attrs.number("weight_decay")),
      is_decoupled(attrs.flag("decoupled")) {
  if (!attrs.flag("bias_correction")) return;
  const auto step = double(attrs.integer("step"));
  correction1 = 1 - std::pow(beta1, step);
  correction2 = 1 - std::pow(beta2, step);
}

}  // namespace opbench
