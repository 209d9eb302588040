#include <array>
#include <cmath>

#include "ops/elementwise.h"
#include "ops/matmul.h"

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
  return [inputs = std::vector(inputs.begin(), inputs.end()), update = Update(attrs)](
             std::size_t output, ElementRange range, std::span<double> to) {
    std::vector<double> values[4];
    for (std::size_t i = 0; i < 4; ++i) {
      values[i].resize(to.size());
      inputs[i].read(range, values[i]);
    }
    for (std::size_t i = 0; i < to.size(); ++i) {
      to[i] = update(values[0][i], values[1][i], values[2][i], values[3][i])[output];
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
std::string share(const AttrValue& value) {
  const double rho = std::get<double>(value);
  return rho >= 0 && rho <= 1 ? "" : "it must be from 0 to 1";
}

Distribution squares(const Problem&) { return {DistributionKind::uniform, 0, 1}; }

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
    .traffic = traffic,
    .adds_to_first = true,
}};

}  // namespace
}  // namespace opbench
