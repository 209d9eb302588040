// Joins results of attention over parts of the keys by the logarithms of their sums.
#include <fmt/format.h>

#include <cmath>

#include "ops/elementwise.h"
#include "ops/movement.h"
#include "ops/terms.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "attention_update";

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs&) {
  const Dims &lse = inputs[0].shape, &parts = inputs[1].shape;
  const bool fits = !lse.empty() && parts.size() == lse.size() + 1 &&
                    std::equal(lse.begin(), lse.end(), parts.begin());
  if (!fits) {
    throw Error(
        fmt::format("{}: 'lse' has shape {} and 'local_out' {}; allowed: [parts, ...] and "
                    "the same with an axis more",
                    kName, to_string(lse), to_string(parts)));
  }
  return {with_shape(inputs[1], {parts.begin() + 1, parts.end()}),
          describe(DType::fp32, {lse.begin() + 1, lse.end()})};
}

/// The weights of the parts in one row, and the logarithm of all sums.
struct Weights {
  std::vector<double> of_part;
  double greatest = -HUGE_VAL, lse = -HUGE_VAL;

  // +Inf marks a part that was not computed, -Inf one without keys: neither counts.
  Weights(const std::vector<double>& lses, std::size_t row, std::size_t rows) {
    for (std::size_t at = row; at < lses.size(); at += rows) of_part.push_back(lses[at]);
    for (const double value : of_part) {
      if (std::isfinite(value)) greatest = std::fmax(greatest, value);
    }
    double sum = 0;
    for (double& value : of_part) sum += value = std::isinf(value) ? 0 : std::exp(value - greatest);
    lse = greatest + std::log(sum);
    if (sum == 0) return;
    for (double& value : of_part) value /= sum;
  }
};

// Each weight has the rounding errors of its exponent and of the joined logarithm.
template <Sum kSum>
Reference reference(std::span<const InputReader> inputs, const Attrs&) {
  const std::vector<double> lse = inputs[0].read_all(), parts = inputs[1].read_all();
  const Dims& shape = inputs[1].desc().shape;
  const auto width = static_cast<std::size_t>(shape.back());
  const Dims& of_lse = inputs[0].desc().shape;
  const auto rows = static_cast<std::size_t>(element_count({of_lse.begin() + 1, of_lse.end()}));
  std::vector<double> out(rows * width), joined(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    const Weights weights(lse, row, rows);
    joined[row] = weights.lse;
    double exponents = 0;
    for (std::size_t part = 0; part < weights.of_part.size(); ++part) {
      const double weight = weights.of_part[part];
      if (weight > 0) exponents += weight * (weights.greatest - lse[part * rows + row]);
    }
    if (kSum == Sum::terms) joined[row] = std::fabs(weights.greatest) + exponents + 1;
    for (std::size_t part = 0; part < weights.of_part.size(); ++part) {
      const double weight = weights.of_part[part];
      if (weight == 0) continue;
      const double exponent = weights.greatest - lse[part * rows + row];
      const double errors =
          kSum == Sum::terms ? 2 + std::fabs(weights.lse) + exponent + exponents : 1;
      const double* const from = parts.data() + (part * rows + row) * width;
      for (std::size_t i = 0; i < width; ++i) {
        out[row * width + i] += errors * weight * summand(kSum, from[i]);
      }
    }
  }
  return elements_of({std::move(out), std::move(joined)});
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "AttentionUpdate",
    .summary = "lse = log(sum_i exp(lse_i)); out = sum_i out_i*exp(lse_i - lse); parts with an "
               "infinite lse_i are left out",
    .source = "torch_npu.npu_attention_update; Dao et al. 2023, Flash-Decoding",
    .known_as = {.not_recorded = "calls have lists of parts, which a case has as one tensor"},
    .inputs = {{.name = "lse", .dtypes = {DType::fp32}}, {"local_out"}},
    .outputs = {{"out"}, {"lse_out"}},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer,
    .reference = reference<Sum::values>,
    .terms =
        [](std::span<const InputReader> inputs, const Attrs& attrs) {
          return Terms{.magnitude = reference<Sum::terms>(inputs, attrs)};
        },
    .traffic =
        [](const Problem& problem) {
          Traffic traffic = movement_traffic(problem);
          traffic.operations = 2 * double(problem.inputs[1].elements());
          return traffic;
        },
    .inputs_like =
        [](const Dims& shape, const Attrs&) {
          const Dims lse(shape.begin(), shape.empty() ? shape.end() : shape.end() - 1);
          return std::vector<Dims>{lse, shape};
        },
    .mixing = Mixing::other,
    .holds_fp32 = true,
    .takes_functions = true,
}};

}  // namespace
}  // namespace opbench
