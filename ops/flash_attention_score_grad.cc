// The gradient of attention, from the statistics of the rows of its scores.
#include <fmt/format.h>

#include <algorithm>

#include "ops/attention_gradient.h"
#include "ops/elementwise.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "ops/terms.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "flash_attention_score_grad";
using gradient_inputs::kFirstOptional, gradient_inputs::kGradient, gradient_inputs::kGreatest,
    gradient_inputs::kOut, gradient_inputs::kSum;

void require_elements(std::span<const TensorDesc> inputs, std::size_t i, std::string_view input,
                      std::int64_t count, std::string_view meaning) {
  if (inputs[i].elements() == count) return;
  throw Error(fmt::format("{}: '{}' has shape {}; allowed: {} elements, {}", kName, input,
                          to_string(inputs[i].shape), count, meaning));
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Attention a = attention_of(kName, inputs, attrs, kFirstOptional);
  const std::int64_t rows = a.batch * a.heads * a.queries;
  require_elements(inputs, kGradient, "dy", rows * a.value_size, "as the result of the attention");
  require_elements(inputs, kGreatest, "softmax_max", rows * kStatisticCopies, "8 for each row");
  require_elements(inputs, kSum, "softmax_sum", rows * kStatisticCopies, "8 for each row");
  require_elements(inputs, kOut, "attention_in", rows * a.value_size, "as dy");
  std::vector<TensorDesc> outputs = {inputs[0], inputs[1], inputs[2]};
  if (a.has_sink) outputs.push_back(inputs[a.places.sink]);
  return outputs;
}

template <Sum kSum>
Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  return attention_gradient(unchecked_problem(find_op(kName), inputs, attrs), inputs, kSum);
}

Traffic traffic(const Problem& problem) {
  const Attention a = attention_of(problem);
  Traffic traffic = movement_traffic(problem);
  traffic.operations = 2 * a.visible_pairs() * double(3 * a.size + 2 * a.value_size);
  return traffic;
}

// The maximum and the sum of the exponentials of scores.
Distribution greatest_data(const Problem&) { return {DistributionKind::uniform, 1, 2}; }
Distribution sum_data(const Problem& problem) {
  const Attention a = attention_of(problem);
  const double keys = double(std::max<std::int64_t>(1, a.keys));
  return {DistributionKind::uniform, keys / 2, keys};
}

std::vector<Dims> inputs_like(const Dims& shape, const Attrs&) {
  Dims rows = shape;
  if (!rows.empty()) rows.back() = kStatisticCopies;
  return {shape, shape, shape, shape, rows, rows, shape};
}

std::vector<TensorSpec> inputs() {
  std::vector<TensorSpec> all = {{"query", "query", {}, attention_query_data},
                                 {"key", "key", {}, attention_key_data},
                                 {"value", "value", {}, unit_data},
                                 {"dy", "dy", {}, unit_data},
                                 {"softmax_max", "softmax_max", {DType::fp32}, greatest_data},
                                 {"softmax_sum", "softmax_sum", {DType::fp32}, sum_data},
                                 {"attention_in", "attention_in", {}, unit_data}};
  for (TensorSpec& spec : attention_optional_inputs()) all.push_back(std::move(spec));
  return all;
}

constexpr std::string_view kCalls =
    "FlashAttentionScoreGrad, npu_fusion_attention_grad, npu_fusion_attention_grad_v2, "
    "NpuFusionAttentionBackward, NpuFusionAttentionV2Backward, NpuFusionAttentionV3Backward";
constexpr std::string_view kRecorded =
    "query, key, value, dy|grads/grads_0, softmax_max|result1, softmax_sum|result2, "
    "attention_in|result0, real_shift|pse_shift|pse?, drop_mask|dropout_mask?, atten_mask?, "
    "prefix?, "
    "actual_seq_qlen?, actual_seq_kvlen?, sink?";
constexpr std::string_view kMasked =
    "query, key, value, dy|grads/grads_0, softmax_max|result1, softmax_sum|result2, "
    "attention_in|result0, real_shift|pse_shift|pse?, drop_mask|dropout_mask?, atten_mask, "
    "prefix?, "
    "actual_seq_qlen?, actual_seq_kvlen?, sink?";
constexpr std::string_view kResults =
    "dq|result0|grad_inputs/grad_inputs_0, dk|result1|grad_inputs/grad_inputs_1, "
    "dv|result2|grad_inputs/grad_inputs_2, dsink";

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "FlashAttentionScoreGrad",
    .summary = "dv = sum(P*dy), dS = P*(dy*V^T - sum(dy*out)), dq = scale*dS*K, dk = "
               "scale*dS^T*Q, with P = exp(S - max)/sum",
    .source = "CANN FlashAttentionScoreGrad; torch_npu npu_fusion_attention_grad",
    .known_as =
        {.calls = attention_calls("FlashAttentionScoreGrad", kCalls, kMasked, kRecorded, kResults),
         // A profile leaves out the optional inputs that are not given.
         .profiled =
             {{"FlashAttentionScoreGrad",
               "query, key, value, dy, atten_mask, softmax_max, softmax_sum, , attention_in",
               "dq, dk, dv"}},
         .likely =
             [](const Shapes& inputs, const Shapes&) {
               return likely_of_attention(inputs[0], inputs[gradient_inputs::kGreatest], inputs);
             }},
    .inputs = inputs(),
    .outputs = {{"dq"}, {"dk"}, {"dv"}, {"dsink", "dsink", {DType::fp32}}},
    .optional_inputs = kOptionalInputs,
    .attrs = attention_attrs(),
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer,
    .reference = reference<Sum::values>,
    .terms =
        [](std::span<const InputReader> inputs, const Attrs& attrs) {
          return Terms{.magnitude = reference<Sum::terms>(inputs, attrs)};
        },
    .traffic = traffic,
    .inputs_like = inputs_like,
    .check_values = check_attention_values,
    .mixing = Mixing::other,
    .holds_fp32 = true,
    .takes_functions = true,
    .context = {.needs_fp32 = true},
}};

}  // namespace
}  // namespace opbench
