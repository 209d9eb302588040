// Products with two quantised factors.
#include "ops/quant_matmul.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <utility>

#include "ops/elementwise.h"
#include "ops/movement.h"
#include "ops/packing.h"
#include "ops/quantise.h"
#include "ops/terms.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "quant_batch_matmul_v3";

enum Input : std::size_t { kX1, kX2, kScale, kOffset, kBias, kTokenScale };

// A scale for each column; int64 is that of trans_quant_param.
std::vector<double> scales(std::span<const InputReader> inputs, std::int64_t columns) {
  std::vector<double> values = read_channels(inputs, kScale, columns, 1);
  if (is_given(inputs, kScale) && inputs[kScale].desc().dtype == DType::int64) {
    for (double& value : values) value = double(packed_scale(static_cast<std::int64_t>(value)));
  }
  return values;
}

/// Numbers that follow the product: y = (acc + before)*scale*token + after.
struct Epilogue {
  std::int64_t columns;
  std::vector<double> scale, before, after, token;

  Epilogue(std::span<const InputReader> inputs, const MatMulShape& s, bool is_plain)
      : columns(s.n),
        scale(scales(inputs, s.n)),
        before(static_cast<std::size_t>(s.n)),
        after(read_channels(inputs, kOffset, s.n, 0)),
        token(read_channels(inputs, kTokenScale, s.m, 1)) {
    if (is_plain) scale.assign(scale.size(), 1);
    if (!is_given(inputs, kBias)) return;
    const std::vector<double> bias = read_channels(inputs, kBias, s.n, 0);
    const bool is_integer = inputs[kBias].desc().dtype == DType::int32;
    std::vector<double>& to = is_integer ? before : after;
    for (std::size_t c = 0; c < to.size(); ++c) to[c] += bias[c];
  }

  /// `sums`: the sums, or the magnitudes of their terms.
  Reference after_sums(Reference sums, Sum sum) const {
    return [sums = std::move(sums), e = *this, sum](std::size_t output, ElementRange range,
                                                    std::span<double> to) {
      sums(output, range, to);
      for (std::size_t i = 0; i < to.size(); ++i) {
        const auto element = static_cast<std::size_t>(range.first) + i;
        const std::size_t c = element % static_cast<std::size_t>(e.columns);
        const std::size_t row = element / static_cast<std::size_t>(e.columns) % e.token.size();
        to[i] = summand(sum, (to[i] + e.before[c]) * e.scale[c] * e.token[row]) +
                summand(sum, e.after[c]);
      }
    };
  }
};

DType output_dtype(const Attrs& attrs) { return parse_dtype(attrs.word("output_dtype")); }

// Sums of floats take no integer bias. A result of int32 is the sum with an integer bias alone.
void refuse_unused(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const bool has_integer_bias = is_given(inputs, kBias) && inputs[kBias].dtype == DType::int32;
  if (has_integer_bias && is_floating(inputs[kX1].dtype)) {
    throw Error(fmt::format("{}: 'bias' is int32 and 'x1' {}; allowed: a floating bias", kName,
                            name(inputs[kX1].dtype)));
  }
  if (output_dtype(attrs) != DType::int32) return;
  for (const Input i : {kOffset, kBias, kTokenScale}) {
    if (!is_given(inputs, i) || (i == kBias && has_integer_bias)) continue;
    throw Error(fmt::format("{}: '{}' is given with output_dtype int32; allowed: a bias of int32",
                            kName, find_op(kName).input_name(i)));
  }
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const MatMulShape s = quant_matmul_shape(inputs, attrs);
  if (inputs[kX1].dtype != inputs[kX2].dtype) {
    throw Error(fmt::format("{}: 'x1' is {} and 'x2' {}; they must be the same", kName,
                            name(inputs[kX1].dtype), name(inputs[kX2].dtype)));
  }
  if (is_given(inputs, kScale)) require_channels(kName, "scale", inputs[kScale], s.n);
  if (is_given(inputs, kOffset)) require_channels(kName, "offset", inputs[kOffset], s.n);
  if (is_given(inputs, kBias)) require_channels(kName, "bias", inputs[kBias], s.n);
  if (is_given(inputs, kTokenScale) && inputs[kTokenScale].elements() != s.m) {
    require_channels(kName, "pertoken_scale", inputs[kTokenScale], s.m);
  }
  refuse_unused(inputs, attrs);
  Dims shape = inputs[kX1].shape;
  shape[shape.size() - 2] = s.m;
  shape.back() = s.n;
  return {describe(output_dtype(attrs), shape)};
}

Steps output_steps(const Attrs& attrs) {
  return output_dtype(attrs) == DType::int8 ? steps_of(DType::int8) : Steps{};
}

Reference exact(std::span<const InputReader> inputs, const Attrs& attrs) {
  const MatMulShape s = quant_matmul_shape(descs_of(inputs), attrs);
  return Epilogue(inputs, s, output_dtype(attrs) == DType::int32)
      .after_sums(matmul_reference(inputs[kX1], inputs[kX2], nullptr, s), Sum::values);
}

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  Reference values = exact(inputs, attrs);
  if (output_dtype(attrs) != DType::int8) return values;
  return stepped(std::move(values), output_steps(attrs));
}

// Sums of integers are exact. Those of floats have rounded terms.
Reference sums_of_terms(std::span<const InputReader> inputs, const MatMulShape& s) {
  if (!is_floating(inputs[kX1].desc().dtype)) {
    return matmul_reference(inputs[kX1], inputs[kX2], nullptr, s);
  }
  const auto magnitude = [](std::int64_t, double value) { return std::fabs(value); };
  const Buffer a = changed_copy(inputs[kX1].desc(), inputs[kX1].storage(), magnitude);
  const Buffer b = changed_copy(inputs[kX2].desc(), inputs[kX2].storage(), magnitude);
  return matmul_reference({inputs[kX1].desc(), a.data()}, {inputs[kX2].desc(), b.data()}, nullptr,
                          s);
}

Terms terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  const MatMulShape s = quant_matmul_shape(descs_of(inputs), attrs);
  return terms_of_steps(exact(inputs, attrs),
                        Epilogue(inputs, s, output_dtype(attrs) == DType::int32)
                            .after_sums(sums_of_terms(inputs, s), Sum::terms),
                        output_steps(attrs));
}

Traffic traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  traffic.operations = quant_matmul_shape(problem.inputs, problem.attrs).operations();
  return traffic;
}

// Sums of K products of numbers up to 100 have a deviation of 3364*sqrt(K).
Distribution scale_data(const Problem& problem) {
  if (problem.inputs[kScale].dtype == DType::int64) {
    return {DistributionKind::constant, double(packed_quant_param(0x1p-10f, 0))};
  }
  const MatMulShape s = quant_matmul_shape(problem.inputs, problem.attrs);
  const double deviation = (is_floating(problem.inputs[kX1].dtype) ? 1 : 3364) *
                           std::sqrt(double(std::max<std::int64_t>(1, s.k)));
  return {DistributionKind::uniform, double(float(20 / deviation)), double(float(40 / deviation))};
}

Distribution token_scale_data(const Problem&) { return {DistributionKind::uniform, 0.5, 1.5}; }

std::vector<Dims> inputs_like(const Dims& shape, const Attrs& attrs) {
  if (shape.size() < 2) return {shape, shape, shape};
  Dims second = shape;
  const std::int64_t k = attrs.flag("transpose_x1") ? shape[shape.size() - 2] : shape.back();
  const std::int64_t n = std::min<std::int64_t>(k, 64);
  second[shape.size() - 2] = attrs.flag("transpose_x2") ? n : k;
  second.back() = attrs.flag("transpose_x2") ? k : n;
  return {shape, second, {n}};
}

std::string no_output(const AttrValue& value) {
  const auto& word = std::get<std::string>(value);
  const bool is_known =
      word == "fp16" || word == "bf16" || word == "fp32" || word == "int8" || word == "int32";
  return is_known ? "" : "it must be fp16, bf16, fp32, int8 or int32";
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "npu_quant_matmul",
    .summary = "y = (x1*x2 + integer bias)*scale*pertoken_scale + bias + offset; int32 is the sum "
               "alone",
    .source =
        "CANN QuantBatchMatmulV3; torch_npu.npu_quant_matmul. Sums of integers are exact; the "
        "other steps are in fp32. An int64 scale is that of trans_quant_param without its offset",
    .known_as =
        {.calls = {{"npu_quant_matmul, QuantBatchMatmulV3, QuantBatchMatmulV4",
                    "x1, x2, scale, offset?, bias?, pertoken_scale?",
                    "y|result|out",
                    {.attrs = "output_dtype: dtype of y|result|out, transpose_x1, "
                              "transpose_x2",
                     .where = "group_sizes:"}},
                   {"_int_mm", "self, mat2", "result|out", {.attrs = "output_dtype: =int32"}},
                   {"_scaled_mm",
                    "self, mat2, scale_b, offset?, bias?, scale_a",
                    "result|out",
                    {.attrs = "output_dtype: dtype of result|out", .where = "scale_result:"}}},
         .profiled = {{"QuantBatchMatmulV3, QuantBatchMatmulV4",
                       "x1, x2, scale, offset, bias, pertoken_scale", "y"}}},
    .inputs =
        {{"x1", "x1", {DType::int8, DType::int4, DType::fp8_e4m3fn, DType::fp8_e5m2, DType::hif8}},
         {"x2", "x2", {DType::int8, DType::int4, DType::fp8_e4m3fn, DType::fp8_e5m2, DType::hif8}},
         {"scale", "scale", {DType::fp32, DType::bf16, DType::int64}, scale_data},
         {"offset", "offset", {DType::fp32}},
         {"bias", "bias", {DType::int32, DType::fp32, DType::bf16, DType::fp16}},
         {"pertoken_scale", "pertoken_scale", {DType::fp32}, token_scale_data}},
    .outputs = {{"y", "result", {}, nullptr, {}, false}},
    .optional_inputs = 4,
    .attrs = {{"output_dtype", std::string("bf16"), "dtype of the result", no_output},
              {"transpose_x1", false, "x1 is stored with its last two axes exchanged"},
              {"transpose_x2", false, "x2 is stored with its last two axes exchanged"}},
    .dtypes = {DType::fp32},
    .formats = kPlainFormats,
    .infer = infer,
    .reference = reference,
    .terms = terms,
    .traffic = traffic,
    .inputs_like = inputs_like,
    .mixing = Mixing::other,
    .holds_fp32 = true,
    .quantises = true,
}};

}  // namespace

MatMulShape quant_matmul_shape(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  return matmul_shape(kName, inputs[kX1], inputs[kX2], attrs.flag("transpose_x1"),
                      attrs.flag("transpose_x2"));
}

}  // namespace opbench
