// The sum of two tensors and its RMS norm, and the gradient.
#include <array>
#include <cmath>
#include <numeric>

#include "ops/channels.h"
#include "ops/elementwise.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "ops/rms_norm.h"
#include "ops/terms.h"
#include "tensor/dtype.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "add_rms_norm", kGradName = "add_rms_norm_grad";

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  infer_elementwise(kName, inputs.first(2));
  const NormRows rows = rms_rows(kName, inputs, 0, 2, attrs);
  return {inputs[0], describe(DType::fp32, rows.statistics), inputs[0]};
}

std::vector<double> sum_of(std::span<const InputReader> inputs) {
  std::vector<double> sum = inputs[0].read_all();
  const std::vector<double> other = inputs[1].read_all();
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += other[i];
  return sum;
}

UncentredRows rows_of(std::span<const InputReader> inputs, const Attrs& attrs) {
  return uncentred_rows(rms_rows(kName, descs_of(inputs), 0, 2, attrs), inputs, 2, attrs);
}

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  std::vector<double> sum = sum_of(inputs);
  return [norm = rows_of(inputs, attrs).reference(sum, attrs.number("epsilon")),
          added = elements_of({std::move(sum)})](std::size_t output, ElementRange range,
                                                 std::span<double> to) {
    output < 2 ? norm(output, range, to) : added(0, range, to);
  };
}

// Ascend 910B rounds the sum before it computes the mean square. These roundings have random signs:
// the mean square changes by u sqrt(sum x^4)/n. In units of the terms of a sum of n elements in
// fp32 this is the ratio of both roundoffs, divided by sqrt(n).
std::vector<double> of_rounded_sum(std::span<const double> sum, std::size_t count, DType dtype,
                                   double eps) {
  std::vector<double> terms;
  const double ratio = epsilon_of(dtype) / epsilon_of(DType::fp32);
  for (std::size_t first = 0; first < sum.size(); first += count) {
    double squares = 0, fourths = 0;
    for (const double x : sum.subspan(first, count)) {
      squares += x * x;
      fourths += x * x * x * x;
    }
    const double n = double(count), total = squares + n * eps, rstd = 1 / std::sqrt(total / n);
    const double share = total > 0 ? std::sqrt(fourths) / total : 0;
    terms.push_back(dtype == DType::fp32 ? 0 : rstd * share * ratio / std::sqrt(n));
  }
  return terms;
}

Terms terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  const double eps = attrs.number("epsilon");
  const std::vector<double> sum = sum_of(inputs);
  const UncentredRows rows = rows_of(inputs, attrs);
  Terms of_norm = rows.terms(sum, eps, false);
  const auto magnitude = [of_norm = of_norm.magnitude,
                          more = of_rounded_sum(sum, static_cast<std::size_t>(rows.count),
                                                inputs[0].desc().dtype, eps)](
                             std::size_t output, ElementRange range, std::span<double> to) {
    if (output > 1) return std::fill(to.begin(), to.end(), 0.0);
    of_norm(output, range, to);
    for (std::size_t i = 0; output == 1 && i < to.size(); ++i) {
      to[i] += more[static_cast<std::size_t>(range.first) + i];
    }
  };
  const auto greatest = [of_norm = of_norm.greatest](std::size_t output, ElementRange range,
                                                     std::span<double> to) {
    output < 2 ? of_norm(output, range, to) : std::fill(to.begin(), to.end(), 0.0);
  };
  return {.magnitude = magnitude, .greatest = greatest};
}

std::vector<TensorDesc> infer_grad(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  infer_elementwise(kGradName, inputs.first(3));
  require_statistic(kGradName, inputs[3], rms_rows(kGradName, inputs, 2, 4, attrs));
  return {inputs[0], inputs[0], describe(DType::fp32, inputs[4].shape)};
}

template <Sum kSum>
Reference reference_grad(std::span<const InputReader> inputs, const Attrs& attrs) {
  const NormRows rows = rms_rows(kGradName, descs_of(inputs), 2, 4, attrs);
  const std::array of_norm = {inputs[0], inputs[2], inputs[3]};
  return [gradient = uncentred_rows(rows, inputs, 4, attrs).gradient<kSum>(of_norm),
          grad_sum = inputs[1]](std::size_t output, ElementRange range, std::span<double> to) {
    gradient(output / 2, range, to);
    if (output == 2) return;
    std::vector<double> more(to.size());
    grad_sum.read(range, more);
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += summand(kSum, more[i]);
  };
}

std::vector<GradientCall> gradient(const Problem&) {
  return {{kGradName,
           {{GradientArg::output_gradient, 0},
            {GradientArg::output_gradient, 2},
            {GradientArg::output, 2},
            {GradientArg::output, 1},
            {GradientArg::input, 2}},
           {0, 1, 2}}};
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "npu_add_rms_norm",
    .summary = "x = x1 + x2; y = x/sqrt(mean(x^2) + epsilon)*weight by rows; the inverse roots",
    .source = "CANN AddRmsNorm",
    .known_as = {.calls = {{"npu_add_rms_norm, AddRmsNorm",
                            "x1, x2, gamma",
                            "result|result0|y, result1|rstd, result2|x",
                            {.attrs = "epsilon"}}}},
    .inputs = {{"x1", "x1", {}, unit_data},
               {"x2", "x2", {}, unit_data},
               {"weight", "gamma", {}, scale_data}},
    .outputs = {{"result"}, statistic_of_rows("rstd", nullptr), {"sum"}},
    .attrs = rms_attrs_with_epsilon(),
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer,
    .reference = reference,
    .terms = terms,
    .traffic = input_traffic<5>,
    .gradient = gradient,
    .inputs_like =
        [](const Dims& shape, const Attrs& attrs) {
          const Dims row = norm_rows(kName, "x1", shape, attrs).normalised;
          return std::vector<Dims>{shape, shape, row};
        },
    .mixing = Mixing::other,
    .promotes = true,
}};

const RegisteredOp registered_grad{{
    .name = kGradName,
    .ir_name = kGradName,
    .summary = "dx1 = dx2 = dx + (g - xn*mean(g*xn))*rstd by rows, g = dy*weight, xn = x*rstd; "
               "dweight = sum(dy*xn) over the rows, in fp32",
    .source = "the sum of the gradient of rms_norm and of the gradient of x",
    .known_as = {.not_recorded = "frameworks add the gradient of the sum to that of rms_norm"},
    .inputs = {{"grad_output", "grads/grads_0", {}, unit_data},
               {"grad_sum", "grads/grads_1", {}, unit_data},
               {"sum", "sum", {}, unit_data},
               statistic_of_rows("rstd", scale_data),
               {"weight", "gamma", {}, scale_data}},
    .outputs = {{"grad_x1", "grad_inputs/grad_inputs_0"},
                {"grad_x2", "grad_inputs/grad_inputs_1"},
                {"grad_weight", "grad_inputs/grad_inputs_2"}},
    .attrs = rms_attrs(),
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer_grad,
    .reference = reference_grad<Sum::values>,
    .terms =
        [](std::span<const InputReader> inputs, const Attrs& attrs) {
          return Terms{.magnitude = reference_grad<Sum::terms>(inputs, attrs)};
        },
    .traffic = input_traffic<11>,
    .inputs_like =
        [](const Dims& shape, const Attrs& attrs) {
          const NormRows rows = norm_rows(kGradName, "sum", shape, attrs);
          return std::vector<Dims>{shape, shape, shape, rows.statistics, rows.normalised};
        },
    .mixing = Mixing::other,
    .promotes = true,
}};

}  // namespace
}  // namespace opbench
