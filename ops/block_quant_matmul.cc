// Products of quantised factors with scales by blocks of terms: MX, and fp8 with fp32 scales.
#include "ops/block_quant_matmul.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/elementwise.h"
#include "ops/movement.h"
#include "ops/quantise.h"
#include "ops/terms.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "block_quant_matmul";
using Of = BlockQuantMatMul;

constexpr std::int64_t kPair = 2;

Dims with_pairs(std::int64_t outer, std::int64_t blocks) {
  return {outer, quotient_up(blocks, kPair), kPair};
}

void require_scale(std::string_view input, const TensorDesc& desc, const Dims& allowed) {
  if (desc.shape == allowed) return;
  throw Error(fmt::format("{}: '{}' has shape {}; allowed with these group_sizes: {}", kName, input,
                          to_string(desc.shape), to_string(allowed)));
}

DType output_dtype(const Attrs& attrs) { return parse_dtype(attrs.word("output_dtype")); }

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  for (const Of::Input i : {Of::x1, Of::x2}) {
    if (inputs[i].shape.size() == 2) continue;
    throw Error(fmt::format("{}: '{}' has shape {}; allowed: two axes", kName,
                            find_op(kName).input_name(i), to_string(inputs[i].shape)));
  }
  const Of of(inputs, attrs);
  require_scale("scale", inputs[Of::scale], of.right_shape());
  require_scale("pertoken_scale", inputs[Of::token_scale], of.left_shape());
  if (is_given(inputs, Of::bias)) require_channels(kName, "bias", inputs[Of::bias], of.shape.n);
  return {describe(output_dtype(attrs), {of.shape.m, of.shape.n})};
}

// The factor times its scales, or the magnitudes.
template <class Place>
std::vector<double> scaled(const InputReader& factor, const InputReader& scale, Sum sum,
                           Place place) {
  std::vector<double> values = factor.read_all();
  const std::vector<double> scales = scale.read_all();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double by = scales[static_cast<std::size_t>(place(static_cast<std::int64_t>(i)))];
    values[i] = summand(sum, values[i] * by);
  }
  return values;
}

Reference product(std::span<const InputReader> inputs, const Attrs& attrs, Sum sum) {
  const Of of(descs_of(inputs), attrs);
  const MatMulShape& s = of.shape;
  const std::vector<double> left =
      scaled(inputs[Of::x1], inputs[Of::token_scale], sum,
             [&](std::int64_t i) { return of.left_place(i / s.k, i % s.k / of.terms); });
  const std::vector<double> right =
      scaled(inputs[Of::x2], inputs[Of::scale], sum, [&](std::int64_t i) {
        const std::int64_t k = s.transpose_b ? i % s.k : i / s.n;
        return of.right_place(k / of.terms, s.transpose_b ? i / s.k : i % s.n);
      });
  std::vector<double> bias = read_channels(inputs, Of::bias, s.n, 0);
  for (double& value : bias) value = summand(sum, value);
  const TensorDesc a = describe(DType::fp64, {s.m, s.k}),
                   b = describe(DType::fp64, inputs[Of::x2].desc().shape),
                   row = describe(DType::fp64, {s.n});
  const InputReader added(row, bias.data());
  return matmul_reference({a, left.data()}, {b, right.data()}, &added, s);
}

Traffic traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  traffic.operations = Of(problem.inputs, problem.attrs).shape.operations();
  return traffic;
}

// fp8 numbers of normal(0,1) keep their size; sums of integers up to 100 become small.
Distribution scale_data(const Problem& problem) {
  return {DistributionKind::uniform, is_floating(problem.inputs[Of::x1].dtype) ? 0.5 : 0x1p-8,
          is_floating(problem.inputs[Of::x1].dtype) ? 2 : 0x1p-6};
}

std::vector<Dims> inputs_like(const Dims& shape, const Attrs& attrs) {
  if (shape.size() != 2) return {shape, shape, shape, shape};
  const std::int64_t k = shape[1], n = std::min<std::int64_t>(k, 64);
  const TensorDesc x1 = describe(DType::fp32, shape),
                   x2 = describe(DType::fp32, attrs.flag("transpose_x2") ? Dims{n, k} : Dims{k, n}),
                   plain = describe(DType::fp32, {1, 1});
  const Of of(std::vector{x1, x2, plain, plain}, attrs);
  return {shape, x2.shape, of.right_shape(), of.left_shape()};
}

std::string no_output(const AttrValue& value) {
  const auto& word = std::get<std::string>(value);
  const bool is_known = word == "fp16" || word == "bf16" || word == "fp32";
  return is_known ? "" : "it must be fp16, bf16 or fp32";
}

std::string no_sizes(const AttrValue& value) {
  const auto& sizes = std::get<std::vector<std::int64_t>>(value);
  const bool are_sizes = sizes.size() == 3 && *std::min_element(sizes.begin(), sizes.end()) >= 1;
  return are_sizes ? "" : "it must have three numbers of 1 or more";
}

const std::vector<DType> kFactors = {DType::fp8_e4m3fn, DType::fp8_e5m2, DType::hif8, DType::int8,
                                     DType::int4};
const std::vector<DType> kScales = {DType::fp32, DType::e8m0};

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "npu_quant_matmul",
    .summary = "y = sum over blocks of pertoken_scale*scale*(x1*x2 of the block) + bias",
    .source = "torch_npu.npu_quant_matmul with group_sizes; CANN QuantBatchMatmulV4; OCP "
              "microscaling formats v1.0; DeepSeek-AI 2024, arXiv:2412.19437",
    .known_as = {.calls = {{"npu_quant_matmul, QuantBatchMatmulV3, QuantBatchMatmulV4",
                            "x1, x2, scale, pertoken_scale, bias?",
                            "y|result|out",
                            {.attrs = "group_sizes, output_dtype: dtype of y|result|out, "
                                      "transpose_x2",
                             .where = "offset:, transpose_x1: 0",
                             .needs = "group_sizes",
                             .turn = 1}}}},
    .inputs = {{"x1", "x1", kFactors, unit_data},
               {"x2", "x2", kFactors, unit_data},
               {"scale", "scale", kScales, scale_data},
               {"pertoken_scale", "pertoken_scale", kScales, scale_data},
               {"bias", "bias", {DType::fp32, DType::bf16, DType::fp16}, unit_data}},
    .outputs = {{"y", "result", {}, nullptr, {}, false}},
    .optional_inputs = 1,
    .attrs = {{"group_sizes", std::vector<std::int64_t>{1, 1, 32},
               "rows, columns and terms of a block with one scale", no_sizes},
              {"output_dtype", std::string("bf16"), "dtype of the result", no_output},
              {"transpose_x2", false, "x2 is stored with its axes exchanged"}},
    .dtypes = {DType::fp32},
    .formats = kPlainFormats,
    .infer = infer,
    .reference = [](std::span<const InputReader> inputs,
                    const Attrs& attrs) { return product(inputs, attrs, Sum::values); },
    .terms = [](std::span<const InputReader> inputs, const Attrs& attrs) -> Terms {
      return {.magnitude = product(inputs, attrs, Sum::terms)};
    },
    .traffic = traffic,
    .inputs_like = inputs_like,
    .mixing = Mixing::other,
    .holds_fp32 = true,
}};

}  // namespace

BlockQuantMatMul::BlockQuantMatMul(std::span<const TensorDesc> inputs, const Attrs& attrs)
    : shape(matmul_shape(kName, inputs[x1], inputs[x2], false, attrs.flag("transpose_x2"))),
      rows(attrs.list("group_sizes")[0]),
      columns(attrs.list("group_sizes")[1]),
      terms(attrs.list("group_sizes")[2]),
      blocks(quotient_up(shape.k, terms)),
      left_has_pairs(inputs[token_scale].shape.size() == 3),
      right_has_pairs(inputs[scale].shape.size() == 3) {}

Dims BlockQuantMatMul::left_shape() const {
  const std::int64_t outer = quotient_up(shape.m, rows);
  return left_has_pairs ? with_pairs(outer, blocks) : Dims{outer, blocks};
}

Dims BlockQuantMatMul::right_shape() const {
  const std::int64_t outer = quotient_up(shape.n, columns);
  Dims of_pairs = with_pairs(outer, blocks);
  if (!shape.transpose_b) std::swap(of_pairs[0], of_pairs[1]);
  if (right_has_pairs) return of_pairs;
  return shape.transpose_b ? Dims{outer, blocks} : Dims{blocks, outer};
}

std::int64_t BlockQuantMatMul::left_place(std::int64_t row, std::int64_t block) const {
  return row / rows * (left_has_pairs ? quotient_up(blocks, kPair) * kPair : blocks) + block;
}

std::int64_t BlockQuantMatMul::right_place(std::int64_t block, std::int64_t column) const {
  const std::int64_t of_column = column / columns, outer = quotient_up(shape.n, columns);
  if (shape.transpose_b) {
    return of_column * (right_has_pairs ? quotient_up(blocks, kPair) * kPair : blocks) + block;
  }
  if (!right_has_pairs) return block * outer + of_column;
  return (block / kPair * outer + of_column) * kPair + block % kPair;
}

}  // namespace opbench
