// Quantisation in the microscaling formats: blocks that share a power of two.
#include "ops/dynamic_mx_quant.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "ops/elementwise.h"
#include "ops/movement.h"
#include "ops/quantise.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "dynamic_mx_quant";

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Dims& shape = inputs[0].shape;
  const MxBlocks blocks(shape, attrs);
  Dims scale = shape;
  scale[blocks.axis] = blocks.pairs();
  scale.push_back(2);
  return {describe(parse_dtype(attrs.word("dst_type")), shape), describe(DType::e8m0, scale)};
}

// Everything is a power of two, so results are exact in fp64.
ExactReference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const TensorDesc& desc = inputs[0].desc();
  const MxBlocks blocks(desc.shape, attrs);
  const MxRule rule(attrs);
  const std::vector<double> x = inputs[0].read_all();
  const auto y = std::make_shared<std::vector<std::uint8_t>>(x.size());
  const auto scales = std::make_shared<std::vector<std::uint8_t>>(
      static_cast<std::size_t>(2 * blocks.pairs() * blocks.outer * blocks.inner));
  blocks.for_each([&](const MxBlock& block) {
    float most = 0;
    block.for_each([&](std::int64_t i) {
      const auto magnitude = static_cast<float>(std::fabs(x[static_cast<std::size_t>(i)]));
      most = std::isnan(magnitude) || magnitude > most ? magnitude : most;
    });
    const std::uint8_t code = rule.scale_code(most);
    (*scales)[static_cast<std::size_t>(block.scale)] = code;
    block.for_each([&](std::int64_t i) {
      const auto at = static_cast<std::size_t>(i);
      (*y)[at] = rule.step(static_cast<float>(x[at]), code);
    });
  });
  return [y, scales](std::size_t output, ElementRange range, void* to) {
    const auto& from = output == 0 ? *y : *scales;
    std::copy_n(from.data() + range.first, range.count, static_cast<std::uint8_t*>(to));
  };
}

std::string no_fp8(const AttrValue& value) {
  const auto& word = std::get<std::string>(value);
  const bool is_known = word == "fp8_e4m3fn" || word == "fp8_e5m2";
  return is_known ? "" : "it must be fp8_e4m3fn or fp8_e5m2";
}

std::string no_algorithm(const AttrValue& value) {
  const std::int64_t number = std::get<std::int64_t>(value);
  return number == 0 || number == 1 ? "" : "it must be 0 or 1";
}

std::string no_block_size(const AttrValue& value) {
  return std::get<std::int64_t>(value) >= 1 ? "" : "it must be 1 or more";
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "npu_dynamic_mx_quant",
    .summary = "y = x/2^E as fp8, saturating; 2^E from the largest value of each block, as e8m0 in "
               "pairs",
    .source = "CANN DynamicMxQuant; torch_npu.npu_dynamic_mx_quant; OCP microscaling formats "
              "v1.0. 4-bit results are not supported",
    .known_as = {.calls = {{"npu_dynamic_mx_quant, DynamicMxQuant",
                            "input|x",
                            "y|result0, mxscale|scale|result1",
                            {.attrs =
                                 "dst_type: dtype of y|result0, axis, block_size, scale_alg"}}},
                 .profiled = {{"DynamicMxQuant", "x", "y, mxscale"}}},
    .inputs = {{"x", "input"}},
    .outputs = {{"y", "y", {}, nullptr, {}, false}, {"mxscale", "mxscale", {}, nullptr, {}, false}},
    .attrs = {{"dst_type", std::string("fp8_e4m3fn"), "dtype of the quantised output", no_fp8},
              {"axis", std::int64_t{-1}, "the axis of the blocks"},
              {"block_size", std::int64_t{32}, "elements with one scale", no_block_size},
              {"scale_alg", std::int64_t{0},
               "0: floor(log2(max)) less the exponent of the largest number; 1: max over it, "
               "rounded up",
               no_algorithm}},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .accuracy = AccuracyClass::exact_value,
    .infer = infer,
    .exact_reference = reference,
    .traffic = input_traffic<3>,
    .mixing = Mixing::other,
}};

}  // namespace

MxBlocks::MxBlocks(const Dims& shape, const Attrs& attrs)
    : axis(axis_of(kName, shape, attrs.integer("axis"))), size(attrs.integer("block_size")) {
  const AxisView view(shape, axis);
  outer = view.outer, extent = view.extent, inner = view.inner;
}

MxRule::MxRule(const Attrs& attrs)
    : format_(&byte_float(parse_dtype(attrs.word("dst_type")))),
      is_rounded_up_(attrs.integer("scale_alg") == 1) {}

std::uint8_t MxRule::scale_code(float most) const {
  constexpr int kBias = 127, kMost = 254, kNan = 255;
  if (!std::isfinite(most)) return kNan;
  if (most == 0) return 0;
  const float largest = format_->magnitudes.back();
  int exponent = std::ilogb(most) - std::ilogb(largest);
  if (is_rounded_up_) {
    int above = 0;
    const double part = std::frexp(double(most) / double(largest), &above);  // from 0.5 to 1
    exponent = part == 0.5 ? above - 1 : above;
  }
  return static_cast<std::uint8_t>(std::clamp(exponent + kBias, 0, kMost));
}

std::uint8_t MxRule::step(float x, std::uint8_t scale) const {
  const float largest = format_->magnitudes.back();
  const float quotient = scale == 255 ? std::nanf("") : std::ldexp(x, 127 - scale);
  return format_->code(quotient > largest ? largest : quotient < -largest ? -largest : quotient);
}

// A product with a power of two is rounded like the scaled number.
void MxRule::steps(const float* x, std::int64_t count, std::uint8_t scale, std::uint8_t* to,
                   std::int64_t apart) const {
  const float largest = format_->magnitudes.back();
  const float factor = scale == 255 ? std::nanf("") : std::ldexp(1.0f, 127 - scale);
  for (std::int64_t i = 0; i < count; ++i) {
    const float quotient = scale == 255 ? factor : x[i] * factor;
    to[i * apart] = format_->code(quotient > largest    ? largest
                                  : quotient < -largest ? -largest
                                                        : quotient);
  }
}

}  // namespace opbench
