#include <array>
#include <cmath>

#include "ops/matmul.h"
#include "ops/optimizer.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "adadelta";

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs&) {
  return std::vector<TensorDesc>(3, infer_elementwise(kName, inputs)[0]);
}

/// The update of one element.
struct Update {
  double lr, rho, eps, weight_decay;

  explicit Update(const Attrs& attrs)
      : lr(attrs.number("lr")),
        rho(attrs.number("rho")),
        eps(attrs.number("eps")),
        weight_decay(attrs.number("weight_decay")) {}

  /// Parameter, mean of squares, mean of squared steps.
  std::array<double, 3> operator()(double p, double g, double squares, double steps) const {
    g += weight_decay * p;
    squares = rho * squares + (1 - rho) * g * g;
    const double step = std::sqrt((steps + eps) / (squares + eps)) * g;
    return {p - lr * step, squares, rho * steps + (1 - rho) * step * step};
  }
};

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  return update_reference(
      inputs, [update = Update(attrs)](const auto& x) { return update(x[0], x[1], x[2], x[3]); });
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = kName,
    .summary = "s = rho s + (1-rho) g^2; d = sqrt((u + eps)/(s + eps)) g; u = rho u + (1-rho) d^2; "
               "p -= lr d; g += wd*p before",
    .source = "torch.optim.Adadelta; Zeiler 2012, arXiv:1212.5701; CANN ApplyAdadelta",
    .known_as = {.not_recorded = "dumps hold its element-wise steps",
                 .calls = {{"ApplyAdadelta, ApplyAdadeltaD",
                            "var, grad, accum, accum_update",
                            "var, accum, accum_update",
                            {.attrs = "lr, rho, eps: epsilon", .is_profiled_only = true}}},
                 .profiled = {{"ApplyAdadelta, ApplyAdadeltaD",
                               "var, accum, accum_update, , , , grad",
                               "var, accum, accum_update"}}},
    .inputs = {{"parameters", "parameters", {}, unit_data},
               {"gradient", "gradient", {}, unit_data},
               {"square_avg", "square_avg", {}, squares},
               {"acc_delta", "acc_delta", {}, squares}},
    .outputs = {{"parameters_out"}, {"square_avg_out"}, {"acc_delta_out"}},
    .attrs = {{"lr", 1.0, "learning rate", not_negative},
              {"rho", double(0.9f), "weight of the old means", share},
              {"eps", double(1e-6f), "added below the roots", not_negative},
              {"weight_decay", 0.0, "wd", not_negative}},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainAnd5hd,
    .infer = infer,
    .reference = reference,
    .traffic = update_traffic<14>,
    .adds_to_first = true,
}};

}  // namespace
}  // namespace opbench
