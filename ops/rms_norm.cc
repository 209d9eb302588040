// RMS norm and its gradient: each row is divided by the root of its mean square.
#include "ops/rms_norm.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/channels.h"
#include "ops/elementwise.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "ops/terms.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "rms_norm", kGradName = "rms_norm_grad";

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const NormRows rows = rms_rows(kName, inputs, 0, 1, attrs);
  return {inputs[0], describe(DType::fp32, rows.statistics)};
}

auto rows_of(std::span<const InputReader> inputs, const Attrs& attrs) {
  return uncentred_rows(rms_rows(kName, descs_of(inputs), 0, 1, attrs), inputs, 1, attrs);
}

std::vector<TensorDesc> infer_grad(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  infer_elementwise(kGradName, inputs.first(2));
  const NormRows rows = rms_rows(kGradName, inputs, 1, 3, attrs);
  require_statistic(kGradName, inputs[2], rows);
  if (!is_given(inputs, 3)) return {inputs[0]};
  return {inputs[0], describe(DType::fp32, inputs[3].shape)};
}

template <Sum kSum>
Reference reference_grad(std::span<const InputReader> inputs, const Attrs& attrs) {
  return uncentred_rows(rms_rows(kGradName, descs_of(inputs), 1, 3, attrs), inputs, 3, attrs)
      .gradient<kSum>(inputs);
}

std::vector<GradientCall> gradient(const Problem& forward) {
  GradientCall call{
      kGradName,
      {{GradientArg::output_gradient, 0}, {GradientArg::input, 0}, {GradientArg::output, 1}}};
  if (!is_given(forward.inputs, 1)) return {call};
  call.args.push_back({GradientArg::input, 1});
  call.of_inputs = {0, 1};
  return {call};
}

Dims row_like(const Dims& shape, const Attrs& attrs) {
  return norm_rows(kName, "self", shape, attrs).normalised;
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "npu_rms_norm",
    .summary = "y = x/sqrt(mean(x^2) + epsilon)*weight by rows; the inverse roots",
    .source =
        "Zhang and Sennrich 2019, arXiv:1910.07467; torch.nn.functional.rms_norm; CANN RmsNorm",
    .known_as = {.calls = {{"npu_rms_norm, RmsNorm",
                            "self|x, gamma|weight",
                            "result|result0|y|out, result1|rstd",
                            {.attrs = "epsilon: epsilon|eps"}},
                           {"npu_gemma_rms_norm, GemmaRmsNorm",
                            "self|x, gamma",
                            "result|result0|y, result1|rstd",
                            {.attrs = "epsilon, weight_offset: =1"}},
                           // Without eps PyTorch takes the machine epsilon of a dtype.
                           {"rms_norm, _fused_rms_norm",
                            "input|self, weight?",
                            "result|result0|out, result1",
                            {.attrs = "normalized_shape: normalized_shape|N, epsilon: eps",
                             .needs = "epsilon"}}},
                 .profiled = {{"aten::rms_norm, aten::_fused_rms_norm", "input, , weight, =eps"}}},
    .inputs = {{"self", "self", {}, unit_data}, {"weight", "gamma", {}, scale_data}},
    .outputs = {{"result"}, statistic_of_rows("rstd", nullptr)},
    .optional_inputs = 1,
    .attrs = rms_attrs_with_epsilon(),
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer,
    .reference =
        [](std::span<const InputReader> inputs, const Attrs& attrs) {
          return rows_of(inputs, attrs).reference(inputs[0].read_all(), attrs.number("epsilon"));
        },
    .terms =
        [](std::span<const InputReader> inputs, const Attrs& attrs) {
          return rows_of(inputs, attrs).terms(inputs[0].read_all(), attrs.number("epsilon"), false);
        },
    .traffic = input_traffic<4>,
    .gradient = gradient,
    .inputs_like =
        [](const Dims& shape, const Attrs& attrs) {
          return std::vector<Dims>{shape, row_like(shape, attrs)};
        },
    .mixing = Mixing::other,
    .promotes = true,
}};

const RegisteredOp registered_grad{{
    .name = kGradName,
    .ir_name = "NpuRmsNormBackward",
    .summary = "dx = (g - xn*mean(g*xn))*rstd by rows, g = dy*weight, xn = x*rstd; dweight = "
               "sum(dy*xn) over the rows, in fp32",
    .source = "torch.nn.functional.rms_norm backward; CANN RmsNormGrad",
    .known_as =
        {.calls =
             {{"NpuRmsNormBackward, npu_rms_norm_backward, RmsNormGrad",
               "grads/grads_0|dy, self|x, result1|rstd, gamma",
               "grad_inputs/grad_inputs_0|result0|dx, grad_inputs/grad_inputs_1|result1|dgamma"},
              {"FusedRmsNormBackward, _fused_rms_norm_backward",
               "grads/grads_0|grad_out, input, result1|rstd, weight?",
               "grad_inputs/grad_inputs_0|result0, grad_inputs/grad_inputs_1|result1",
               {.attrs = "normalized_shape"}}},
         .profiled = {{"aten::_fused_rms_norm_backward", "grad_out, input, , rstd, weight"}}},
    .inputs = {{"grad_output", "grads/grads_0", {}, unit_data},
               {"self", "self", {}, unit_data},
               statistic_of_rows("rstd", scale_data),
               {"weight", "gamma", {}, scale_data}},
    .outputs = {{"grad_input", "grad_inputs/grad_inputs_0"},
                {"grad_weight", "grad_inputs/grad_inputs_1"}},
    .optional_inputs = 1,
    .attrs = rms_attrs(),
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer_grad,
    .reference = reference_grad<Sum::values>,
    .terms =
        [](std::span<const InputReader> inputs, const Attrs& attrs) {
          return Terms{.magnitude = reference_grad<Sum::terms>(inputs, attrs)};
        },
    .traffic = input_traffic<10>,
    .inputs_like =
        [](const Dims& shape, const Attrs& attrs) {
          const NormRows rows = norm_rows(kGradName, "self", shape, attrs);
          return std::vector<Dims>{shape, shape, rows.statistics, rows.normalised};
        },
    .mixing = Mixing::other,
    .promotes = true,
}};

}  // namespace

NormRows rms_rows(std::string_view op, std::span<const TensorDesc> inputs, std::size_t x,
                  std::size_t weight, const Attrs& attrs) {
  const TensorDesc& desc = inputs[x];
  if (!is_given(inputs, weight)) return norm_rows(op, "self", desc.shape, attrs);
  const TensorDesc& given = inputs[weight];
  Attrs of_weight = attrs;
  if (attrs.list("normalized_shape").empty()) of_weight.put("normalized_shape", given.shape);
  NormRows rows = norm_rows(op, "self", desc.shape, of_weight);
  if (given.shape != rows.normalised) {
    throw Error(fmt::format("{}: 'weight' has shape {}; allowed: {}, the extents of a row", op,
                            to_string(given.shape), to_string(rows.normalised)));
  }
  if (given.dtype != desc.dtype && given.dtype != DType::fp32) {
    throw Error(fmt::format("{}: 'weight' is {}; allowed: fp32, or {} as 'self'", op,
                            name(given.dtype), name(desc.dtype)));
  }
  return rows;
}

void require_statistic(std::string_view op, const TensorDesc& desc, const NormRows& rows) {
  if (desc.elements() == rows.rows) return;
  throw Error(fmt::format("{}: 'rstd' has shape {}; allowed: {}, one number for each row", op,
                          to_string(desc.shape), to_string(rows.statistics)));
}

UncentredRows uncentred_rows(const NormRows& rows, std::span<const InputReader> inputs,
                             std::size_t weight, const Attrs& attrs) {
  const auto count = static_cast<std::size_t>(rows.count);
  std::vector<double> weights(count, 1);
  if (is_given(inputs, weight)) weights = inputs[weight].read_all();
  for (double& value : weights) value += attrs.number("weight_offset");
  const auto place = [](std::size_t, std::size_t i) { return i; };
  return {rows.count, std::move(weights), std::vector<double>(count), place, false};
}

std::vector<AttrSpec> rms_attrs() {
  return {{"normalized_shape", std::vector<std::int64_t>{},
           "the last extents, which make a row; []: the weight's, else the last one"},
          {"weight_offset", 0.0, "is added to the weight; Gemma: 1"}};
}

std::vector<AttrSpec> rms_attrs_with_epsilon() {
  std::vector<AttrSpec> attrs = rms_attrs();
  attrs.push_back(
      {"epsilon", 1e-6, "is added to the mean square", [](const AttrValue& value) -> std::string {
         return std::get<double>(value) >= 0 ? "" : "it must be 0 or more";
       }});
  return attrs;
}

}  // namespace opbench
