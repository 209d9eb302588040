// Layer norm and its gradient: rows normalised by their own mean and deviation.
#include "ops/layer_norm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/channels.h"
#include "ops/elementwise.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "ops/terms.h"
#include "tensor/dtype.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "layer_norm", kGradName = "layer_norm_grad";

void require_row(std::string_view op, std::string_view input, const TensorDesc& desc,
                 const NormRows& rows) {
  if (desc.shape == rows.normalised) return;
  throw Error(fmt::format("{}: '{}' has shape {}; allowed: {}, the extents of a row", op, input,
                          to_string(desc.shape), to_string(rows.normalised)));
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const NormRows rows = norm_rows(kName, "self", inputs[0].shape, attrs);
  if (inputs.size() > 1) require_row(kName, "weight", inputs[1], rows);
  if (inputs.size() > 2) require_row(kName, "bias", inputs[2], rows);
  return {inputs[0], describe(DType::fp32, rows.statistics),
          describe(DType::fp32, rows.statistics)};
}

/// Of input `i`, one number for each element of a row; `usual` where it is left out.
std::vector<double> row_or(std::span<const InputReader> inputs, std::size_t i, double usual,
                           const NormRows& rows) {
  if (inputs.size() > i) return inputs[i].read_all();
  return std::vector<double>(static_cast<std::size_t>(rows.count), usual);
}

/// One number for each row, for each of its elements and its statistics.
Reference of_rows(std::vector<double> numbers, std::int64_t count) {
  return [numbers = std::move(numbers), count](std::size_t output, ElementRange range,
                                               std::span<double> to) {
    const std::int64_t of_row = output == kNormalised ? count : 1;
    for (std::size_t i = 0; i < to.size(); ++i) {
      const std::int64_t row = (range.first + static_cast<std::int64_t>(i)) / of_row;
      to[i] = numbers[static_cast<std::size_t>(row)];
    }
  };
}

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const NormRows rows = norm_rows(kName, "self", inputs[0].desc().shape, attrs);
  const double eps = attrs.number("eps"), n = double(rows.count);
  const std::vector<double> weight = row_or(inputs, 1, 1, rows), bias = row_or(inputs, 2, 0, rows);
  std::vector<double> y = inputs[0].read_all(), means, rstds;
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    double* const row = y.data() + r * rows.count;
    double sum = 0, squares = 0;
    for (std::int64_t i = 0; i < rows.count; ++i) sum += row[i];
    for (std::int64_t i = 0; i < rows.count; ++i)
      squares += (row[i] - sum / n) * (row[i] - sum / n);
    means.push_back(sum / n);
    rstds.push_back(1 / std::sqrt(squares / n + eps));
    for (std::int64_t i = 0; i < rows.count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      row[i] = (row[i] - means.back()) * rstds.back() * weight[at] + bias[at];
    }
  }
  return elements_of({std::move(y), std::move(means), std::move(rstds)});
}

// A row's elements may be large beside what is left where its mean is taken away, and the sum of
// their squares may leave the range.
Terms terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  const NormRows rows = norm_rows(kName, "self", inputs[0].desc().shape, attrs);
  const auto count = static_cast<std::size_t>(rows.count);
  const std::vector<double> weight = row_or(inputs, 1, 1, rows), bias = row_or(inputs, 2, 0, rows);
  std::vector<double> rounding = inputs[0].read_all(), means, rstds, greatest;
  for (std::span<double> left = rounding; !left.empty(); left = left.subspan(count)) {
    const std::span<double> row = left.first(count);
    double sum = 0, magnitudes = 0, squares = 0;
    for (const double x : row) sum += x;
    for (const double x : row) magnitudes += std::fabs(x);
    const double mean = sum / double(count);
    for (const double x : row) squares += (x - mean) * (x - mean);
    const double rstd = 1 / std::sqrt(squares / double(count) + attrs.number("eps"));
    means.push_back(magnitudes / double(count));
    greatest.push_back(std::fmax(magnitudes, squares));
    // Where they do, the inverse deviation is 0 and nothing of the elements is left.
    const double of_all = squares > largest_finite(DType::fp32) ? 0x1p24 : 1;
    rstds.push_back(of_all * rstd);
    for (std::size_t i = 0; i < count; ++i) {
      const double before = of_all * std::fabs(row[i] - mean) + std::fabs(mean) + means.back();
      row[i] = before * rstd * std::fabs(weight[i]) + std::fabs(bias[i]);
    }
  }
  return {.magnitude = elements_of({std::move(rounding), std::move(means), std::move(rstds)}),
          .greatest = of_rows(std::move(greatest), rows.count)};
}

std::vector<TensorDesc> infer_grad(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  infer_elementwise(kGradName, inputs.first(2));
  const NormRows rows = norm_rows(kGradName, "self", inputs[1].shape, attrs);
  for (std::size_t i : {2, 3}) {
    if (inputs[i].elements() == rows.rows) continue;
    throw Error(fmt::format("{}: '{}' has shape {}; allowed: {}, one number for each row",
                            kGradName, i == 2 ? "mean" : "rstd", to_string(inputs[i].shape),
                            to_string(rows.statistics)));
  }
  if (inputs.size() < 5) return {inputs[0]};
  require_row(kGradName, "weight", inputs[4], rows);
  return {inputs[0], inputs[4], inputs[4]};
}

// With g = dy*weight and xn = (x - mean)*rstd: dx = (g - (sum(g) + xn*sum(g*xn))/n)*rstd, dweight
// and dbias the sums of dy*xn and dy over the rows.
template <Sum kSum>
Reference reference_grad(std::span<const InputReader> inputs, const Attrs& attrs) {
  const NormRows rows = norm_rows(kGradName, "self", inputs[1].desc().shape, attrs);
  const auto count = static_cast<std::size_t>(rows.count);
  std::vector<double> dx = inputs[0].read_all(), x = inputs[1].read_all();
  const std::vector<double> mean = inputs[2].read_all(), rstd = inputs[3].read_all();
  const std::vector<double> weight = row_or(inputs, 4, 1, rows);
  std::vector<double> grad_weight(count), grad_bias(count);
  for (std::size_t r = 0; r < mean.size(); ++r) {
    double *const dy = dx.data() + r * count, *const xn = x.data() + r * count;
    double sum = 0, product = 0;
    for (std::size_t i = 0; i < count; ++i) {
      xn[i] = subtracted(kSum, xn[i], mean[r]) * rstd[r];
      grad_weight[i] += summand(kSum, dy[i] * xn[i]);
      grad_bias[i] += summand(kSum, dy[i]);
      dy[i] *= weight[i];
      sum += summand(kSum, dy[i]);
      product += summand(kSum, dy[i] * xn[i]);
    }
    for (std::size_t i = 0; i < count; ++i) {
      dy[i] = subtracted(kSum, dy[i], (sum + xn[i] * product) / double(count)) * rstd[r];
    }
  }
  return elements_of({std::move(dx), std::move(grad_weight), std::move(grad_bias)});
}

template <int kOperations>
Traffic traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  traffic.operations = kOperations * double(problem.inputs[0].elements());
  return traffic;
}

std::vector<GradientCall> gradient(const Problem& forward) {
  GradientCall call{kGradName,
                    {{GradientArg::output_gradient, kNormalised},
                     {GradientArg::input, 0},
                     {GradientArg::output, kMean},
                     {GradientArg::output, kRstd}}};
  for (std::size_t i = 1; i < forward.inputs.size(); ++i) call.of_inputs.push_back(i);
  if (forward.inputs.size() > 1) call.args.push_back({GradientArg::input, 1});
  return {call};
}

// A row of another shape is the last axis: --shapes gives any rank.
std::vector<Dims> inputs_like(const Dims& shape, const Attrs& attrs) {
  const Dims row = norm_rows(kName, "self", shape, attrs).normalised;
  return {shape, row, row};
}

std::vector<Dims> inputs_like_grad(const Dims& shape, const Attrs& attrs) {
  const NormRows rows = norm_rows(kGradName, "self", shape, attrs);
  return {shape, shape, rows.statistics, rows.statistics, rows.normalised};
}

AttrSpec normalized_shape() {
  return {"normalized_shape", std::vector<std::int64_t>{},
          "the last extents, which make a row; [] is the last one"};
}

TensorSpec statistic(std::string_view name, Distribution (*data)(const Problem& problem)) {
  TensorSpec spec{name, name, {DType::fp32, DType::fp16, DType::bf16}, data};
  spec.differentiable = false;
  return spec;
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "native_layer_norm",
    .summary =
        "y = (x - mean)/sqrt(variance + eps)*weight + bias, by rows; their means and inverse "
        "deviations",
    .source = "torch.nn.functional.layer_norm; Ba et al. 2016, arXiv:1607.06450; CANN LayerNorm",
    .known_as = {.calls =
                     {// PyTorch 1.5 has statistics of one axis, and the device the variance in
                      // place of 1/sqrt(variance + eps).
                      {"native_layer_norm, layer_norm, npu_layer_norm, LayerNorm",
                       "input|self|x, weight|gamma, bias|beta?",
                       "result|result0|y|out, result1, result2",
                       {.attrs = "normalized_shape: shape of weight|gamma, eps: eps|epsilon",
                        .devices = "CPU, CUDA"}},
                      {"native_layer_norm, layer_norm, npu_layer_norm, LayerNorm, LayerNormV3, "
                       "LayerNormV4, LayerNormalization",
                       "input|self|x|X, weight|gamma|Scale, bias|beta|B?",
                       "result|result0|y|out|Y",
                       {.attrs =
                            "normalized_shape: shape of weight|gamma|Scale, eps: eps|epsilon"}},
                      {"native_layer_norm, layer_norm",
                       "input|self",
                       "result|result0|out",
                       {.attrs = "normalized_shape: normalized_shape|N, eps",
                        .where = "weight:, bias:",
                        .needs = "normalized_shape"}}},
                 .profiled = {{"LayerNorm, LayerNormV3", "x, gamma, beta", "y"},
                              {"LayerNormV4", "x, , gamma, beta", "y"},
                              {"aten::native_layer_norm, aten::layer_norm",
                               "input, , weight, bias, =eps"}}},
    .inputs = {{"self", "input", {}, unit_data},
               {"weight", "weight", {}, scale_data},
               {"bias", "bias", {}, unit_data}},
    .outputs = {{"result"}, statistic("mean", nullptr), statistic("rstd", nullptr)},
    .optional_inputs = 2,
    .attrs = {normalized_shape(), batch_norm_eps()},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer,
    .reference = reference,
    .terms = terms,
    .traffic = traffic<7>,
    .gradient = gradient,
    .inputs_like = inputs_like,
    .mixing = Mixing::other,
    .holds_fp32 = true,
    .context = {.needs_fp32 = true},
}};

const RegisteredOp registered_grad{{
    .name = kGradName,
    .ir_name = "NativeLayerNormBackward",
    .summary = "dx = (g - (sum(g) + xn*sum(g*xn))/n)*rstd by rows, g = dy*weight, xn = (x - "
               "mean)*rstd; dweight = sum(dy*xn), dbias = sum(dy) over the rows",
    .source = "torch.nn.functional.layer_norm backward; CANN LayerNormGrad",
    .known_as =
        {.calls = {{"NativeLayerNormBackward, native_layer_norm_backward",
                    "grads/grads_0|grad_out, input|self, result1|mean, result2|rstd, weight",
                    "grad_inputs/grad_inputs_0|result0, grad_inputs/grad_inputs_1|result1, "
                    "grad_inputs/grad_inputs_2|result2",
                    {.attrs = "normalized_shape: shape of weight", .devices = "CPU, CUDA"}},
                   {"NativeLayerNormBackward, native_layer_norm_backward",
                    "grads/grads_0|grad_out, input|self, result1|mean, result2|rstd",
                    "grad_inputs/grad_inputs_0|result0",
                    {.attrs = "normalized_shape: normalized_shape|N",
                     .where = "weight:",
                     .needs = "normalized_shape",
                     .devices = "CPU, CUDA"}},
                   {"LayerNormGrad, LayerNormGradV3",
                    "dy, x, mean, variance, gamma",
                    "pd_x, pd_gamma, pd_beta",
                    {.attrs = "normalized_shape: shape of gamma", .is_profiled_only = true}},
                   {"native_layer_norm_backward",
                    "grad_out, input, mean, rstd, weight",
                    "result0, result1, result2",
                    {.attrs = "normalized_shape: shape of weight", .is_profiled_only = true}}},
         .profiled =
             {{"LayerNormGrad", "dy, x, variance, mean, gamma", "pd_x, pd_gamma, pd_beta"},
              {"LayerNormGradV3", "dy, x, variance, mean, gamma", "pd_x, pd_gamma, pd_beta"},
              {"aten::native_layer_norm_backward", "grad_out, input, , mean, rstd, weight"}}},
    .inputs = {{"grad_output", "grads/grads_0", {}, unit_data},
               {"self", "input", {}, unit_data},
               statistic("mean", unit_data),
               statistic("rstd", scale_data),
               {"weight", "weight", {}, scale_data}},
    .outputs = {{"grad_input", "grad_inputs/grad_inputs_0"},
                {"grad_weight", "grad_inputs/grad_inputs_1"},
                {"grad_bias", "grad_inputs/grad_inputs_2"}},
    .optional_inputs = 1,
    .attrs = {normalized_shape()},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer_grad,
    .reference = reference_grad<Sum::values>,
    .terms =
        [](std::span<const InputReader> inputs, const Attrs& attrs) {
          return Terms{.magnitude = reference_grad<Sum::terms>(inputs, attrs)};
        },
    .traffic = traffic<13>,
    .inputs_like = inputs_like_grad,
    .mixing = Mixing::other,
}};

}  // namespace

NormRows norm_rows(std::string_view op, std::string_view input, const Dims& shape,
                   const Attrs& attrs) {
  Dims row = attrs.list("normalized_shape");
  if (row.empty() && !shape.empty()) row = {shape.back()};
  const bool fits = !row.empty() && row.size() <= shape.size() &&
                    std::equal(row.rbegin(), row.rend(), shape.rbegin());
  if (!fits || element_count(row) == 0) {
    throw Error(
        fmt::format("{}: '{}' has shape {} and rows of {}; allowed: rows of the last "
                    "extents, none of them 0",
                    op, input, to_string(shape), to_string(row)));
  }
  NormRows rows{1, element_count(row), row, shape};
  const auto outer = shape.end() - std::ssize(row);
  rows.rows = element_count({shape.begin(), outer});
  std::fill(rows.statistics.begin() + (outer - shape.begin()), rows.statistics.end(), 1);
  return rows;
}

}  // namespace opbench
