// The gradient of the gates of a mixture of experts for the experts that were chosen.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/elementwise.h"
#include "ops/elementwise_op.h"
#include "ops/experts.h"
#include "ops/index.h"
#include "ops/matmul.h"
#include "ops/moe_gating.h"
#include "ops/movement.h"
#include "ops/terms.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "moe_gating_grad";
using Numbers = std::vector<double>;
// A device may flush a sigmoid below the smallest normal number of fp32, as a multiple of roundoff.
constexpr double kFlushed = 0x1p-126 / 0x1p-24;

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs&) {
  const Dims &dy = inputs[0].shape, &x = inputs[1].shape, &experts = inputs[2].shape;
  const bool has_rows = !x.empty() && !dy.empty() && dy == experts &&
                        std::equal(x.begin(), x.end() - 1, dy.begin(), dy.end() - 1);
  if (!has_rows || dy.back() > x.back()) {
    throw Error(
        fmt::format("{}: 'grad_y' has shape {}, 'x' {} and 'expert_idx' {}; allowed: "
                    "[tokens, k], [tokens, experts], [tokens, k]",
                    kName, to_string(dy), to_string(x), to_string(experts)));
  }
  return {describe(inputs[1].dtype, x)};
}

/// One token: the gradients of x, and the magnitudes of their terms.
struct GateRow {
  Numbers share, reach;  // of a share: the relative error of its exponential
  Numbers times;         // that an expert counts; all count once in softmax of all
  bool is_sigmoid;

  GateRow(std::span<const double> x, GateShares shares, std::span<const std::int64_t> chosen)
      : share(x.size(), 0),
        reach(x.size(), 0),
        times(x.size(), shares == GateShares::softmax ? 1 : 0),
        is_sigmoid(shares == GateShares::sigmoid) {
    for (const std::int64_t e : chosen) {
      if (shares != GateShares::softmax) ++times[static_cast<std::size_t>(e)];
    }
    is_sigmoid ? sigmoids(x) : softmax(x);
  }

  void softmax(std::span<const double> x) {
    double greatest = -HUGE_VAL, sum = 0, exponents = 0;
    for (std::size_t e = 0; e < x.size(); ++e) {
      if (times[e] > 0) greatest = std::max(greatest, x[e]);
    }
    for (std::size_t e = 0; e < x.size(); ++e) {
      if (times[e] == 0) continue;
      share[e] = std::exp(x[e] - greatest);
      reach[e] = 1 + greatest - x[e];
      sum += times[e] * share[e];
      exponents += times[e] * share[e] * (greatest - x[e]);
    }
    for (std::size_t e = 0; e < x.size(); ++e) {
      share[e] /= sum;
      reach[e] += exponents / sum;
    }
  }

  void sigmoids(std::span<const double> x) {
    for (std::size_t e = 0; e < x.size(); ++e) {
      share[e] = sigmoid(x[e]);
      reach[e] = 1 + std::fabs(x[e]);
    }
  }
};

// With g the gradients of the chosen shares: dx = share (g - the sum of g share) of softmax. A
// sigmoid is divided by the sum D of the chosen ones: ds = (g - the sum of g share/D)/D.
template <Sum kSum>
Reference gradient_of(std::span<const InputReader> inputs, const Attrs& attrs) {
  const std::vector<double> dy = inputs[0].read_all(), x = inputs[1].read_all();
  const std::vector<std::int64_t> experts = inputs[2].read_index();
  const auto count = static_cast<std::size_t>(inputs[1].desc().shape.back());
  const auto k = static_cast<std::size_t>(inputs[0].desc().shape.back());
  const GateShares shares = gate_shares(attrs.word("shares"));
  const double factor = attrs.number("factor");
  std::vector<double> dx(x.size());
  for (std::size_t t = 0; k > 0 && t < dy.size() / k; ++t) {
    const std::span<const std::int64_t> chosen(experts.data() + t * k, k);
    const GateRow row({x.data() + t * count, count}, shares, chosen);
    Numbers g(count, 0);
    double sum = 0, divisor = row.is_sigmoid ? attrs.number("eps") : 1, reach = 0;
    for (std::size_t j = 0; j < k; ++j) {
      const auto e = static_cast<std::size_t>(chosen[j]);
      g[e] += summand(kSum, dy[t * k + j] * factor);
      sum += summand(kSum, dy[t * k + j] * factor * row.share[e]);
      reach = std::max(reach, row.reach[e]);
      if (row.is_sigmoid) divisor += row.share[e];
    }
    for (std::size_t e = 0; e < count; ++e) {
      if (row.times[e] == 0) continue;
      const double s = row.share[e];
      if (kSum == Sum::values) {
        dx[t * count + e] = row.is_sigmoid
                                ? (g[e] - row.times[e] * sum / divisor) / divisor * s * (1 - s)
                                : s * (g[e] - row.times[e] * sum);
        continue;
      }
      // The share, the sum and the divisor have the errors of their exponentials; 1 - s has that of
      // 1.
      const double slope =
          (g[e] + row.times[e] * sum / divisor) / divisor * (s + (row.is_sigmoid ? kFlushed : 0));
      const double wide = row.is_sigmoid ? (1 - s) * (1 + 3 * std::max(reach, row.reach[e])) +
                                               s * row.reach[e] + 1 - s
                                         : row.reach[e] + reach;
      dx[t * count + e] = slope * wide;
    }
  }
  return elements_of({std::move(dx)});
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "MoeGatingBackward",
    .summary = "dx of y = factor*share of the chosen experts: softmax of all, softmax of the "
               "chosen ones, or sigmoid over the sum of those of the chosen ones",
    .source = "the derivative of moe_gating_top_k and moe_gating_top_k_softmax",
    .known_as = {.not_recorded = "autograd records the operators that the gradient is composed of"},
    .inputs = {{"grad_y", "grads/grads_0", {}, unit_data},
               {"x", "x", {}, unit_data},
               {.name = "expert_idx",
                .dtypes = kExpertDTypes,
                .data =
                    [](const Problem& problem) {
                      return index_data(problem.inputs[1].shape.back());
                    }}},
    .outputs = {{"grad_x", "grad_inputs/grad_inputs_0"}},
    .attrs = {{"shares", std::string("softmax"), "softmax, chosen (softmax of those) or sigmoid",
               [](const AttrValue& value) -> std::string {
                 const auto& word = std::get<std::string>(value);
                 const bool is_one = word == "softmax" || word == "chosen" || word == "sigmoid";
                 return is_one ? "" : "it must be softmax, chosen or sigmoid";
               }},
              {"factor", 1.0, "the factor of y"},
              {"eps", 1e-20, "added to the sum of the chosen sigmoids"}},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer,
    .reference = gradient_of<Sum::values>,
    .terms =
        [](std::span<const InputReader> inputs, const Attrs& attrs) {
          return Terms{.magnitude = gradient_of<Sum::terms>(inputs, attrs)};
        },
    .traffic =
        [](const Problem& problem) {
          Traffic traffic = movement_traffic(problem);
          traffic.operations = 8 * double(problem.inputs[1].elements());
          return traffic;
        },
    .inputs_like = [](const Dims& shape, const Attrs&) -> std::vector<Dims> {
      Dims one = shape;
      if (!one.empty()) one.back() = std::min<std::int64_t>(1, one.back());
      return {one, shape, one};
    },
    .check_values =
        [](const Problem& problem, std::span<const InputReader> inputs) {
          check_index({kName, "expert_idx", problem.inputs[1].shape.back()},
                      inputs[2].read_index());
        },
    .mixing = Mixing::other,
    .holds_fp32 = true,
    .takes_functions = true,
}};

}  // namespace

GateShares gate_shares(std::string_view word) {
  if (word == "sigmoid") return GateShares::sigmoid;
  return word == "chosen" ? GateShares::chosen : GateShares::softmax;
}

std::vector<GradientCall> gradient_of_gate(const Problem& forward) {
  using Arg = GradientArg;
  const Gating of(forward.inputs[0], forward.attrs);
  if (is_given(forward.inputs, 1) && forward.inputs[1].dtype == DType::boolean) {
    throw Error(fmt::format("{}: finished tokens have no experts, so the gradient is unknown",
                            forward.op->name));
  }
  const char* const shares = of.is_sigmoid ? "sigmoid" : of.by_logits ? "chosen" : "softmax";
  const std::pair<std::string_view, AttrValue> attrs[] = {
      {"shares", std::string(shares)}, {"factor", of.factor}, {"eps", of.eps}};
  return {{kName,
           {{Arg::output_gradient, 0}, {Arg::input, 0}, {Arg::output, 1}},
           {0},
           attrs_with(kName, attrs)}};
}

}  // namespace opbench
