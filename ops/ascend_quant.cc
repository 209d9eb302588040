// Quantisation with given scales, and its inverse.
#include <fmt/format.h>

#include <cmath>

#include "ops/elementwise.h"
#include "ops/movement.h"
#include "ops/quantise.h"
#include "ops/terms.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kQuant = "ascend_quant_v2", kAntiQuant = "ascend_anti_quant";

/// Scales and offsets by channel along one axis.
struct Channels {
  AxisView view;
  std::vector<double> scale, offset;

  Channels(std::string_view op, std::span<const InputReader> inputs, const Attrs& attrs)
      : view(inputs[0].desc().shape, axis_of(op, inputs[0].desc().shape, attrs.integer("axis"))),
        scale(read_channels(inputs, 1, view.extent, 1)),
        offset(read_channels(inputs, 2, view.extent, 0)) {
    if (!attrs.flag("sqrt_mode")) return;
    for (double& s : scale) s *= s;
  }

  /// Calls f(x, scale, offset) for every element of `x`.
  template <class Function>
  Reference map(const InputReader& x, Function f) const {
    return [x, channels = *this, f](std::size_t, ElementRange range, std::span<double> to) {
      x.read(range, to);
      const AxisView& along = channels.view;
      for (std::size_t i = 0; i < to.size(); ++i) {
        const std::int64_t element = range.first + static_cast<std::int64_t>(i);
        const auto channel = static_cast<std::size_t>(element / along.inner % along.extent);
        to[i] = f(to[i], channels.scale[channel], channels.offset[channel]);
      }
    };
  }
};

Dims checked(std::string_view op, std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Dims& shape = inputs[0].shape;
  const std::int64_t channels = shape[axis_of(op, shape, attrs.integer("axis"))];
  require_channels(op, "scale", inputs[1], channels);
  if (is_given(inputs, 2)) require_channels(op, "offset", inputs[2], channels);
  return shape;
}

std::vector<TensorDesc> infer_quant(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  return {describe(steps_of(attrs).dtype, checked(kQuant, inputs, attrs), inputs[0].format)};
}

Reference exact(std::span<const InputReader> inputs, const Attrs& attrs) {
  const bool divides = attrs.flag("div_mode");
  return Channels(kQuant, inputs, attrs).map(inputs[0], [divides](double x, double s, double o) {
    return (divides ? x / s : x * s) + o;
  });
}

Terms terms_quant(std::span<const InputReader> inputs, const Attrs& attrs) {
  const bool divides = attrs.flag("div_mode");
  return terms_of_steps(exact(inputs, attrs),
                        Channels(kQuant, inputs, attrs)
                            .map(inputs[0],
                                 [divides](double x, double s, double o) {
                                   return std::fabs(divides ? x / s : x * s) + std::fabs(o);
                                 }),
                        steps_of(attrs));
}

std::vector<TensorDesc> infer_anti_quant(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const DType to = parse_dtype(attrs.word("dst_type"));
  return {describe(to, checked(kAntiQuant, inputs, attrs), inputs[0].format)};
}

Reference reference_anti_quant(std::span<const InputReader> inputs, const Attrs& attrs) {
  return Channels(kAntiQuant, inputs, attrs).map(inputs[0], [](double x, double s, double o) {
    return (x + o) * s;
  });
}

Terms terms_anti_quant(std::span<const InputReader> inputs, const Attrs& attrs) {
  return {.magnitude =
              Channels(kAntiQuant, inputs, attrs).map(inputs[0], [](double x, double s, double o) {
                return (std::fabs(x) + std::fabs(o)) * std::fabs(s);
              })};
}

std::vector<Dims> inputs_like(const Dims& shape, const Attrs& attrs) {
  const Dims channels = {shape.empty() ? 1 : shape[axis_of(kQuant, shape, attrs.integer("axis"))]};
  return {shape, channels, channels};
}

std::string no_rounding(const AttrValue& value) {
  const auto& word = std::get<std::string>(value);
  const bool is_known = word == "round" || word == "floor" || word == "ceil" || word == "trunc";
  return is_known ? "" : "it must be round, floor, ceil or trunc";
}

std::string no_wide_dtype(const AttrValue& value) {
  const auto& word = std::get<std::string>(value);
  const bool is_known = word == "fp16" || word == "bf16" || word == "fp32";
  return is_known ? "" : "it must be fp16, bf16 or fp32";
}

const AttrSpec kSqrtMode = {"sqrt_mode", false, "the scale is applied twice"};
const AttrSpec kAxis = {"axis", std::int64_t{-1}, "the axis of the channels"};

const RegisteredOp quant{{
    .name = kQuant,
    .ir_name = "npu_quantize",
    .summary = "y = clip(round(x*scale + offset)), by tensor or channel; x/scale with div_mode",
    .source = "CANN AscendQuantV2, aclnnAscendQuantV3; torch_npu.npu_quantize. NaN gives 0 in an "
              "integer",
    .known_as = {.calls = {{"AscendQuantV2",
                            "x, scale, offset?",
                            "y",
                            {.attrs = "dst_type: dtype of y, sqrt_mode, round_mode, axis"}},
                           {"npu_quantize",
                            "self|input, scales, zero_points?",
                            "result|y|out",
                            {.attrs = "dst_type: dtype of result|y|out, div_mode, axis",
                             .needs = "div_mode"}},
                           {"npu_quantize",
                            "self|input, scales, zero_points?",
                            "result|y|out",
                            {.attrs = "dst_type: dtype of result|y|out, div_mode: =true, axis",
                             .where = "div_mode:"}}},
                 .profiled = {{"AscendQuantV2", "x, scale, offset", "y"}}},
    .inputs = {{"x", "self", {}, nullptr},
               {"scale", "scales", kArithmeticDTypes,
                [](const Problem& problem) -> Distribution {
                  if (problem.attrs.flag("div_mode")) return divisor_data(problem);
                  return {DistributionKind::uniform, 16, 64};
                }},
               {"offset", "zero_points", kArithmeticDTypes,
                [](const Problem&) -> Distribution {
                  return {DistributionKind::uniform, -8, 8};
                }}},
    .outputs = {{"y", "result", {}, nullptr, {}, false}},
    .optional_inputs = 1,
    .attrs = {dst_type_attr(),
              kSqrtMode,
              {"round_mode", std::string("round"),
               "rounding to an integer: round (half to even), floor, ceil, trunc", no_rounding},
              kAxis,
              {"div_mode", false, "divides by the scale"}},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer_quant,
    .reference = [](std::span<const InputReader> inputs,
                    const Attrs& attrs) { return stepped(exact(inputs, attrs), steps_of(attrs)); },
    .terms = terms_quant,
    .traffic = input_traffic<4>,
    .inputs_like = inputs_like,
    .holds_fp32 = true,
    .quantises = true,
}};

const RegisteredOp anti_quant{{
    .name = kAntiQuant,
    .ir_name = "npu_anti_quant",
    .summary = "y = (x + offset)*scale of quantised x, by tensor or channel",
    .source = "CANN AscendAntiQuantV2; torch_npu.npu_anti_quant: fp32 arithmetic, rounded once",
    .known_as = {.calls = {{"AscendAntiQuantV2, npu_anti_quant",
                            "x, scale, offset?",
                            "y|result|out",
                            {.attrs = "dst_type: dtype of y|result|out, sqrt_mode"}}},
                 .profiled = {{"AscendAntiQuantV2", "x, scale, offset", "y"}}},
    .inputs = {{"x", "x", kStepDTypes},
               {"scale", "scale", {}, divisor_data},
               {"offset",
                "offset",
                {DType::fp32, DType::bf16, DType::fp16},
                [](const Problem&) -> Distribution {
                  return {DistributionKind::uniform, -8, 8};
                }}},
    .outputs = {{"y", "result"}},
    .optional_inputs = 1,
    .attrs = {{"dst_type", std::string("fp16"), "dtype of the result", no_wide_dtype},
              kSqrtMode,
              kAxis},
    .dtypes = {DType::fp32, DType::bf16, DType::fp16},
    .formats = kPlainFormats,
    .infer = infer_anti_quant,
    .reference = reference_anti_quant,
    .terms = terms_anti_quant,
    .traffic = input_traffic<2>,
    .inputs_like = inputs_like,
    .holds_fp32 = true,
}};

}  // namespace
}  // namespace opbench
