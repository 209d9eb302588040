// Layer norm and its gradient: each row is normalised by its own mean and deviation.
#include "ops/layer_norm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/channels.h"
#include "ops/elementwise.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "ops/normalised_rows.h"
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

/// One number for each element of a row from input `i`, or `usual` if the input is absent.
std::vector<double> row_or(std::span<const InputReader> inputs, std::size_t i, double usual,
                           const NormRows& rows) {
  if (inputs.size() > i) return inputs[i].read_all();
  return std::vector<double>(static_cast<std::size_t>(rows.count), usual);
}

/// The rows, with the inputs `weight` and `bias` or their defaults.
auto rows_of(const NormRows& rows, std::span<const InputReader> inputs, std::size_t weight,
             std::size_t bias) {
  const auto place = [](std::size_t, std::size_t i) { return i; };
  return NormalisedRows{rows.count, row_or(inputs, weight, 1, rows), row_or(inputs, bias, 0, rows),
                        place};
}

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const NormRows rows = norm_rows(kName, "self", inputs[0].desc().shape, attrs);
  return rows_of(rows, inputs, 1, 2).reference(inputs[0].read_all(), attrs.number("eps"));
}

Terms terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  const NormRows rows = norm_rows(kName, "self", inputs[0].desc().shape, attrs);
  return rows_of(rows, inputs, 1, 2).terms(inputs[0].read_all(), attrs.number("eps"), false);
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

template <Sum kSum>
Reference reference_grad(std::span<const InputReader> inputs, const Attrs& attrs) {
  const NormRows rows = norm_rows(kGradName, "self", inputs[1].desc().shape, attrs);
  return rows_of(rows, inputs, 4, 5).gradient<kSum>(inputs);
}

std::vector<GradientCall> gradient(const Problem& forward) {
  return gradient_of_normalised(kGradName, forward);
}

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

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "native_layer_norm",
    .summary =
        "y = (x - mean)/sqrt(variance + eps)*weight + bias, by rows; their means and inverse "
        "deviations",
    .source = "torch.nn.functional.layer_norm; Ba et al. 2016, arXiv:1607.06450; CANN LayerNorm",
    .known_as = {.calls =
                     {// PyTorch 1.5 returns statistics with one axis, and the device the variance
                      // in place of 1/sqrt(variance + eps).
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
    .outputs = {{"result"}, statistic_of_rows("mean", nullptr), statistic_of_rows("rstd", nullptr)},
    .optional_inputs = 2,
    .attrs = {normalized_shape(), batch_norm_eps()},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer,
    .reference = reference,
    .terms = terms,
    .traffic = input_traffic<7>,
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
               statistic_of_rows("mean", unit_data),
               statistic_of_rows("rstd", scale_data),
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
    .traffic = input_traffic<13>,
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
