// Products with a quantised weight, which is widened before it is multiplied.
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "ops/elementwise.h"
#include "ops/movement.h"
#include "ops/quant_matmul.h"
#include "ops/quantise.h"
#include "ops/terms.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "weight_quant_batch_matmul_v2";

enum Input : std::size_t { kX, kWeight, kScale, kOffset, kBias };

void require_scales(std::string_view input, const TensorDesc& desc, const MatMulShape& s,
                    std::int64_t group) {
  if (group == 0) return require_channels(kName, input, desc, s.n);
  const Dims wanted = {quotient_up(s.k, group), s.n};
  if (desc.shape == wanted) return;
  throw Error(fmt::format("{}: '{}' has shape {}; allowed with groups of {}: {}", kName, input,
                          to_string(desc.shape), group, to_string(wanted)));
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const MatMulShape s = weight_quant_shape(inputs, attrs);
  const std::int64_t group = attrs.integer("antiquant_group_size");
  require_scales("antiquant_scale", inputs[kScale], s, group);
  if (is_given(inputs, kOffset)) require_scales("antiquant_offset", inputs[kOffset], s, group);
  if (is_given(inputs, kBias)) require_channels(kName, "bias", inputs[kBias], s.n);
  Dims shape = inputs[kX].shape;
  shape.back() = s.n;
  return {describe(inputs[kX].dtype, shape)};
}

/// x times (weight + offset)*scale, or the magnitudes of its terms.
Reference product(std::span<const InputReader> inputs, const Attrs& attrs, Sum sum) {
  const MatMulShape s = weight_quant_shape(descs_of(inputs), attrs);
  const AntiQuant anti(inputs.size() > kOffset && is_given(inputs, kOffset)
                           ? inputs[kOffset].read_all()
                           : std::vector<double>{0},
                       inputs[kScale].read_all(), s, attrs);
  std::vector<double> x = inputs[kX].read_all(), weight = inputs[kWeight].read_all();
  for (double& value : x) value = summand(sum, value);
  for (std::size_t i = 0; i < weight.size(); ++i) {
    const std::size_t at = anti.place(i);
    weight[i] = (summand(sum, weight[i]) + summand(sum, anti.offset_at(at))) *
                summand(sum, anti.scale_at(at));
  }
  std::vector<double> bias = read_channels(inputs, kBias, s.n, 0);
  for (double& value : bias) value = summand(sum, value);
  const TensorDesc left = describe(DType::fp64, {s.m, s.k}),
                   right = describe(DType::fp64, inputs[kWeight].desc().shape),
                   row = describe(DType::fp64, {s.n});
  const InputReader added(row, bias.data());
  return matmul_reference({left, x.data()}, {right, weight.data()}, &added, s);
}

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  return product(inputs, attrs, Sum::values);
}

Terms terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  return {.magnitude = product(inputs, attrs, Sum::terms)};
}

Traffic traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  traffic.operations = weight_quant_shape(problem.inputs, problem.attrs).operations();
  return traffic;
}

// Weights up to 100 have a deviation of 58.
Distribution scale_data(const Problem& problem) {
  const MatMulShape s = weight_quant_shape(problem.inputs, problem.attrs);
  const double largest = (problem.inputs[kWeight].dtype == DType::int4 ? 0.25 : 0.0175) /
                         std::sqrt(double(std::max<std::int64_t>(1, s.k)));
  return {DistributionKind::uniform, double(float(largest / 2)), double(float(largest))};
}

std::vector<Dims> inputs_like(const Dims& shape, const Attrs& attrs) {
  if (shape.size() < 2) return {shape, shape, shape};
  const std::int64_t k = shape.back(), n = std::min<std::int64_t>(k, 64);
  const std::int64_t group = attrs.integer("antiquant_group_size");
  const Dims weight = attrs.flag("transpose_weight") ? Dims{n, k} : Dims{k, n};
  return {shape, weight, group == 0 ? Dims{n} : Dims{quotient_up(k, group), n}};
}

std::string no_group(const AttrValue& value) {
  return std::get<std::int64_t>(value) >= 0 ? "" : "it must be 0 (none) or more";
}

const RegisteredOp registered{{
    .name = kName,
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
               {"antiquant_scale", "antiquant_scale", {}, scale_data},
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
    .infer = infer,
    .reference = reference,
    .terms = terms,
    .traffic = traffic,
    .inputs_like = inputs_like,
    .mixing = Mixing::other,
}};

}  // namespace

MatMulShape weight_quant_shape(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Dims& shape = inputs[kX].shape;
  if (shape.empty()) {
    throw Error(fmt::format("{}: 'x' has no axes; allowed: one or more", kName));
  }
  TensorDesc rows = inputs[kX];
  rows.shape = {element_count(Dims(shape.begin(), shape.end() - 1)), shape.back()};
  return matmul_shape(kName, rows, inputs[kWeight], false, attrs.flag("transpose_weight"));
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
