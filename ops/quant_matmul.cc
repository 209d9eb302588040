// Products with quantised factors: both (quant_batch_matmul_v3), or the weight alone.
#include "ops/quant_matmul.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <utility>

#include "ops/elementwise.h"
#include "ops/movement.h"
#include "ops/quantise.h"
#include "ops/terms.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "quant_batch_matmul_v3",
                           kWeightName = "weight_quant_batch_matmul_v2";

enum Input : std::size_t { kX1, kX2, kScale, kOffset, kBias, kTokenScale };
enum WeightInput : std::size_t { kX, kWeight, kAntiScale, kAntiOffset, kWeightBias };

/// Numbers that follow the product: y = (acc + before)*scale*token + after.
struct Epilogue {
  std::int64_t columns;
  std::vector<double> scale, before, after, token;

  Epilogue(std::span<const InputReader> inputs, const MatMulShape& s, bool is_plain)
      : columns(s.n),
        scale(read_channels(inputs, kScale, s.n, 1)),
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

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const MatMulShape s = quant_matmul_shape(inputs, attrs);
  if (inputs[kX1].dtype != inputs[kX2].dtype) {
    throw Error(fmt::format("{}: 'x1' is {} and 'x2' {}; they must be the same", kName,
                            name(inputs[kX1].dtype), name(inputs[kX2].dtype)));
  }
  require_channels(kName, "scale", inputs[kScale], s.n);
  if (is_given(inputs, kOffset)) require_channels(kName, "offset", inputs[kOffset], s.n);
  if (is_given(inputs, kBias)) require_channels(kName, "bias", inputs[kBias], s.n);
  if (is_given(inputs, kTokenScale)) {
    require_channels(kName, "pertoken_scale", inputs[kTokenScale], s.m);
  }
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

const RegisteredOp quant_matmul{{
    .name = kName,
    .ir_name = "npu_quant_matmul",
    .summary = "y = (x1*x2 + integer bias)*scale*pertoken_scale + bias + offset; int32 is the sum "
               "alone",
    .source =
        "CANN QuantBatchMatmulV3; torch_npu.npu_quant_matmul. Sums of integers are exact; the "
        "other steps are in fp32. Scales packed into uint64 are not supported",
    .known_as = {.calls = {{"npu_quant_matmul, QuantBatchMatmulV3, QuantBatchMatmulV4",
                            "x1, x2, scale, offset?, bias?, pertoken_scale?",
                            "y|result|out",
                            {.attrs = "output_dtype: dtype of y|result|out, transpose_x1, "
                                      "transpose_x2"}}},
                 .profiled = {{"QuantBatchMatmulV3, QuantBatchMatmulV4",
                               "x1, x2, scale, offset, bias, pertoken_scale", "y"}}},
    .inputs =
        {{"x1", "x1", {DType::int8, DType::int4, DType::fp8_e4m3fn, DType::fp8_e5m2, DType::hif8}},
         {"x2", "x2", {DType::int8, DType::int4, DType::fp8_e4m3fn, DType::fp8_e5m2, DType::hif8}},
         {"scale", "scale", {}, scale_data},
         {"offset", "offset", {DType::fp32}},
         {"bias", "bias", {DType::int32, DType::fp32, DType::bf16, DType::fp16}},
         {"pertoken_scale", "pertoken_scale", {DType::fp32}, token_scale_data}},
    .outputs = {{"y", "result", {}, nullptr, {}, false}},
    .optional_inputs = 3,
    .attrs = {{"output_dtype", std::string("fp16"), "dtype of the result", no_output},
              {"transpose_x1", false, "x1 is stored with its last two axes exchanged"},
              {"transpose_x2", false, "x2 is stored with its last two axes exchanged"}},
    .dtypes = {DType::fp32, DType::bf16},
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

MatMulShape weight_shape(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  return weight_quant_shape(inputs, attrs);
}

void require_scales(std::string_view input, const TensorDesc& desc, const MatMulShape& s,
                    std::int64_t group) {
  if (group == 0) return require_channels(kWeightName, input, desc, s.n);
  const Dims wanted = {(s.k + group - 1) / group, s.n};
  if (desc.shape == wanted) return;
  throw Error(fmt::format("{}: '{}' has shape {}; allowed with groups of {}: {}", kWeightName,
                          input, to_string(desc.shape), group, to_string(wanted)));
}

std::vector<TensorDesc> infer_weight(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const MatMulShape s = weight_shape(inputs, attrs);
  const std::int64_t group = attrs.integer("antiquant_group_size");
  require_scales("antiquant_scale", inputs[kAntiScale], s, group);
  if (is_given(inputs, kAntiOffset))
    require_scales("antiquant_offset", inputs[kAntiOffset], s, group);
  if (is_given(inputs, kWeightBias))
    require_channels(kWeightName, "bias", inputs[kWeightBias], s.n);
  Dims shape = inputs[kX].shape;
  shape.back() = s.n;
  return {describe(inputs[kX].dtype, shape)};
}

/// x times (weight + offset)*scale, or the magnitudes of its terms.
Reference weight_product(std::span<const InputReader> inputs, const Attrs& attrs, Sum sum) {
  const MatMulShape s = weight_shape(descs_of(inputs), attrs);
  const AntiQuant anti(inputs.size() > kAntiOffset && is_given(inputs, kAntiOffset)
                           ? inputs[kAntiOffset].read_all()
                           : std::vector<double>{0},
                       inputs[kAntiScale].read_all(), s, attrs);
  std::vector<double> x = inputs[kX].read_all(), weight = inputs[kWeight].read_all();
  for (double& value : x) value = summand(sum, value);
  for (std::size_t i = 0; i < weight.size(); ++i) {
    const std::size_t at = anti.place(i);
    weight[i] = (summand(sum, weight[i]) + summand(sum, anti.offset_at(at))) *
                summand(sum, anti.scale_at(at));
  }
  std::vector<double> bias = read_channels(inputs, kWeightBias, s.n, 0);
  for (double& value : bias) value = summand(sum, value);
  const TensorDesc left = describe(DType::fp64, {s.m, s.k}),
                   right = describe(DType::fp64, inputs[kWeight].desc().shape),
                   row = describe(DType::fp64, {s.n});
  const InputReader added(row, bias.data());
  return matmul_reference({left, x.data()}, {right, weight.data()}, &added, s);
}

Reference weight_reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  return weight_product(inputs, attrs, Sum::values);
}

Terms weight_terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  return {.magnitude = weight_product(inputs, attrs, Sum::terms)};
}

Traffic weight_traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  traffic.operations = weight_shape(problem.inputs, problem.attrs).operations();
  return traffic;
}

// Weights up to 100 have a deviation of 58.
Distribution weight_scale_data(const Problem& problem) {
  const MatMulShape s = weight_shape(problem.inputs, problem.attrs);
  const double largest = (problem.inputs[kWeight].dtype == DType::int4 ? 0.25 : 0.0175) /
                         std::sqrt(double(std::max<std::int64_t>(1, s.k)));
  return {DistributionKind::uniform, double(float(largest / 2)), double(float(largest))};
}

std::vector<Dims> weight_inputs_like(const Dims& shape, const Attrs& attrs) {
  if (shape.size() < 2) return {shape, shape, shape};
  const std::int64_t k = shape.back(), n = std::min<std::int64_t>(k, 64);
  const std::int64_t group = attrs.integer("antiquant_group_size");
  const Dims weight = attrs.flag("transpose_weight") ? Dims{n, k} : Dims{k, n};
  return {shape, weight, group == 0 ? Dims{n} : Dims{(k + group - 1) / group, n}};
}

std::string no_group(const AttrValue& value) {
  return std::get<std::int64_t>(value) >= 0 ? "" : "it must be 0 (none) or more";
}

const RegisteredOp weight_quant_matmul{{
    .name = kWeightName,
    .ir_name = "npu_weight_quant_batchmatmul",
    .summary = "y = x*((weight + antiquant_offset)*antiquant_scale) + bias; scales by tensor, "
               "channel or group",
    .source = "CANN WeightQuantBatchMatmulV2; torch_npu.npu_weight_quant_batchmatmul",
    .known_as = {.calls = {{"npu_weight_quant_batchmatmul, WeightQuantBatchMatmulV2",
                            "x, weight, antiquant_scale, antiquant_offset?, bias?",
                            "y|result|out",
                            {.attrs = "antiquant_group_size, transpose_weight",
                             .where = "quant_scale:"}}},
                 .profiled = {{"WeightQuantBatchMatmulV2",
                               "x, weight, antiquant_scale, antiquant_offset, , , bias", "y"}}},
    .inputs = {{"x", "x", {}, unit_data},
               {"weight", "weight", {DType::int8, DType::int4}},
               {"antiquant_scale", "antiquant_scale", {}, weight_scale_data},
               {"antiquant_offset",
                "antiquant_offset",
                {},
                [](const Problem&) -> Distribution {
                  return {DistributionKind::integers, -4, 4};
                }},
               {"bias", "bias", {DType::fp32, DType::fp16, DType::bf16}}},
    .outputs = {{"y", "result", {}, nullptr, {}, false}},
    .optional_inputs = 2,
    .attrs = {{"antiquant_group_size", std::int64_t{0},
               "rows of the weight with one scale; 0: all of them", no_group},
              {"transpose_weight", false, "the weight is stored as [columns, rows]"}},
    .dtypes = {DType::fp16, DType::bf16, DType::fp32},
    .formats = kPlainFormats,
    .infer = infer_weight,
    .reference = weight_reference,
    .terms = weight_terms,
    .traffic = weight_traffic,
    .inputs_like = weight_inputs_like,
    .mixing = Mixing::other,
}};

}  // namespace

MatMulShape quant_matmul_shape(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  return matmul_shape(kName, inputs[kX1], inputs[kX2], attrs.flag("transpose_x1"),
                      attrs.flag("transpose_x2"));
}

MatMulShape weight_quant_shape(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Dims& shape = inputs[kX].shape;
  if (shape.empty()) {
    throw Error(fmt::format("{}: 'x' has no axes; allowed: one or more", kWeightName));
  }
  TensorDesc rows = inputs[kX];
  rows.shape = {shape.back() == 0 ? 0 : inputs[kX].elements() / shape.back(), shape.back()};
  return matmul_shape(kWeightName, rows, inputs[kWeight], false, attrs.flag("transpose_weight"));
}

AntiQuant::AntiQuant(std::vector<double> offset, std::vector<double> scale,
                     const MatMulShape& shape, const Attrs& attrs)
    : offset_(std::move(offset)),
      scale_(std::move(scale)),
      shape_(shape),
      group_(attrs.integer("antiquant_group_size")) {}

std::size_t AntiQuant::place(std::size_t element) const {
  const auto i = static_cast<std::int64_t>(element);
  const std::int64_t k = shape_.transpose_b ? i % shape_.k : i / shape_.n;
  const std::int64_t n = shape_.transpose_b ? i / shape_.k : i % shape_.n;
  return static_cast<std::size_t>(group_ == 0 ? n : k / group_ * shape_.n + n);
}

}  // namespace opbench
