// Attention of training: softmax(scale*Q*K^T + shift)*V for each head, with the statistics of its
// rows.

#include "ops/attention_reference.h"
#include "ops/elementwise.h"
#include "ops/matmul.h"
#include "ops/movement.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "flash_attention_score";
constexpr std::size_t kFirstOptional = 3;

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Attention a = attention_of(kName, inputs, attrs, kFirstOptional);
  Dims out = inputs[0].shape;
  const bool is_joined = out.size() == 3 && !a.is_packed;
  out.back() = is_joined ? a.heads * a.value_size : a.value_size;
  Dims rows{a.batch, a.heads, a.queries, kStatisticCopies};
  if (a.is_packed) rows = {a.queries, a.heads, kStatisticCopies};  // for both orders of the data
  const TensorDesc statistics = describe(DType::fp32, rows);
  return {with_shape(inputs[0], out), statistics, statistics};
}

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  return attention_values(attention_of(kName, descs_of(inputs), attrs, kFirstOptional), inputs);
}

Terms terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  return attention_terms(unchecked_problem(find_op(kName), inputs, attrs), inputs);
}

Traffic traffic(const Problem& problem) {
  const Attention a = attention_of(problem);
  Traffic traffic = movement_traffic(problem);
  traffic.operations = 2 * a.visible_pairs() * double(a.size + a.value_size);
  return traffic;
}

std::vector<GradientCall> gradient(const Problem& forward) {
  GradientCall call{"flash_attention_score_grad",
                    {{GradientArg::input, 0},
                     {GradientArg::input, 1},
                     {GradientArg::input, 2},
                     {GradientArg::output_gradient, 0},
                     {GradientArg::output, 1},
                     {GradientArg::output, 2},
                     {GradientArg::output, 0}},
                    {0, 1, 2}};
  for (std::size_t i = kFirstOptional; i < forward.inputs.size(); ++i) {
    call.args.push_back({GradientArg::input, i});
  }
  const std::size_t sink = AttentionInputs::from(kFirstOptional).sink;
  if (is_given(forward.inputs, sink)) call.of_inputs.push_back(sink);
  return {call};
}

std::vector<Dims> inputs_like(const Dims& shape, const Attrs&) { return {shape, shape, shape}; }

std::vector<TensorSpec> inputs() {
  std::vector<TensorSpec> all = {{"query", "query", {}, attention_query_data},
                                 {"key", "key", {}, attention_key_data},
                                 {"value", "value", {}, unit_data}};
  for (TensorSpec& spec : attention_optional_inputs()) all.push_back(std::move(spec));
  return all;
}

TensorSpec statistic(std::string_view name) {
  TensorSpec spec{name, name, {DType::fp32}};
  spec.differentiable = false;
  return spec;
}

constexpr std::string_view kCalls =
    "FlashAttentionScore, npu_fusion_attention, npu_fusion_attention_v2, npu_fusion_attention_v3";
constexpr std::string_view kRecorded =
    "query, key, value, real_shift|pse?, drop_mask|dropout_mask?, atten_mask?, prefix?, "
    "actual_seq_qlen?, actual_seq_kvlen?, sink?";
constexpr std::string_view kMasked =
    "query, key, value, real_shift|pse?, drop_mask|dropout_mask?, atten_mask, prefix?, "
    "actual_seq_qlen?, actual_seq_kvlen?, sink?";
constexpr std::string_view kResults =
    "attention_out|result0|result, softmax_max|result1, softmax_sum|result2";

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "FlashAttentionScore",
    .summary = "out = softmax(scale*Q*K^T + shift)*V by heads, without hidden pairs; maximum and "
               "sum of the exponentials of each row",
    .source = "CANN FlashAttentionScore; torch_npu npu_fusion_attention; Dao 2022, "
              "arXiv:2205.14135",
    .known_as = {.calls =
                     attention_calls("FlashAttentionScore", kCalls, kMasked, kRecorded, kResults),
                 .profiled = {{"FlashAttentionScore",
                               "query, key, value, real_shift, drop_mask, , atten_mask, prefix, "
                               "actual_seq_qlen, actual_seq_kvlen",
                               "softmax_max, softmax_sum, , attention_out"}},
                 .likely =
                     [](const Shapes& inputs, const Shapes& outputs) {
                       return likely_of_attention(inputs[0], outputs[0], inputs);
                     }},
    .inputs = inputs(),
    .outputs = {{"attention_out"}, statistic("softmax_max"), statistic("softmax_sum")},
    .optional_inputs = kOptionalInputs,
    .attrs = attention_attrs(),
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer,
    .reference = reference,
    .terms = terms,
    .traffic = traffic,
    .gradient = gradient,
    .inputs_like = inputs_like,
    .check_values = check_attention_values,
    .mixing = Mixing::other,
    .holds_fp32 = true,
    .takes_functions = true,
    .context = {.needs_fp32 = true},
}};

}  // namespace
}  // namespace opbench
