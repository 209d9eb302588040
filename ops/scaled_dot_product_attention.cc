// Attention as PyTorch has it, and its gradient from the logarithm of the sum of exponentials.
#include "ops/attention_gradient.h"
#include "ops/elementwise.h"
#include "ops/matmul.h"
#include "ops/movement.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "scaled_dot_product_attention",
                           kGradName = "scaled_dot_product_attention_grad";
constexpr std::size_t kMask = 3, kMaskOfGrad = 6;

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Attention a = torch_attention_of(kName, inputs, attrs, kMask);
  return {with_shape(inputs[0], {a.batch, a.heads, a.queries, a.value_size}),
          describe(DType::fp32, {a.batch, a.heads, a.queries})};
}

void require(std::string_view name, const TensorDesc& desc, const Dims& shape) {
  if (desc.shape != shape) refuse_shape(kGradName, name, desc, to_string(shape));
}

std::vector<TensorDesc> infer_grad(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Attention a = torch_attention_of(kGradName, inputs, attrs, kMaskOfGrad);
  const Dims out{a.batch, a.heads, a.queries, a.value_size};
  require("grad_output", inputs[gradient_inputs::kGradient], out);
  require("logsumexp", inputs[gradient_inputs::kGreatest], {a.batch, a.heads, a.queries});
  require("output", inputs[a.result_input()], out);
  return {inputs[0], inputs[1], inputs[2]};
}

Problem forward(std::span<const InputReader> inputs, const Attrs& attrs) {
  return unchecked_problem(find_op(kName), inputs, attrs);
}

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  return attention_values(attention_of(forward(inputs, attrs)), inputs);
}

Terms terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  return attention_terms(forward(inputs, attrs), inputs);
}

template <Sum kSum>
Reference reference_grad(std::span<const InputReader> inputs, const Attrs& attrs) {
  return attention_gradient(unchecked_problem(find_op(kGradName), inputs, attrs), inputs, kSum);
}

Traffic traffic(const Problem& problem) {
  const Attention a = attention_of(problem);
  Traffic traffic = movement_traffic(problem);
  const std::int64_t each =
      problem.op->name == kName ? a.size + a.value_size : 3 * a.size + 2 * a.value_size;
  traffic.operations = 2 * a.visible_pairs() * double(each);
  return traffic;
}

std::vector<GradientCall> gradient(const Problem& forward) {
  GradientCall call{kGradName,
                    {{GradientArg::input, 0},
                     {GradientArg::input, 1},
                     {GradientArg::input, 2},
                     {GradientArg::output_gradient, 0},
                     {GradientArg::output, 1},
                     {GradientArg::output, 0}},
                    {0, 1, 2}};
  if (forward.inputs.size() > kMask) call.args.push_back({GradientArg::input, kMask});
  return {call};
}

std::vector<Dims> inputs_like(const Dims& shape, const Attrs&) { return {shape, shape, shape}; }

std::vector<Dims> inputs_like_grad(const Dims& shape, const Attrs&) {
  Dims rows = shape;
  if (!rows.empty()) rows.pop_back();
  return {shape, shape, shape, shape, rows, shape};
}

Distribution mask_data(const Problem& problem) {
  const DType dtype = problem.inputs[problem.op->inputs.size() - 1].dtype;
  if (is_floating(dtype)) return {DistributionKind::uniform, -1, 1};
  return {DistributionKind::integers, 0, 1};
}

// Scores have a deviation of 4/3.
Distribution logsumexp_data(const Problem& problem) {
  const double keys = double(std::max<std::int64_t>(1, problem.inputs[1].shape[2]));
  return {DistributionKind::uniform, 1 + std::log(keys), 2 + std::log(keys)};
}

TensorSpec of_rows(Distribution (*data)(const Problem& problem)) {
  TensorSpec spec{"logsumexp", "logsumexp", {DType::fp32}, data};
  spec.differentiable = false;
  return spec;
}

TensorSpec mask() {
  TensorSpec spec{
      "attn_mask", "attn_mask", {DType::boolean, DType::fp32, DType::fp16, DType::bf16}, mask_data};
  spec.differentiable = false;
  return spec;
}

std::vector<AttrSpec> attributes() {
  return {{"is_causal", false, "a query sees keys up to its own place"},
          {"scale", 0.0, "factor of the scores; 0: 1/sqrt(size of a head)"}};
}

const KnownCallRules kRules = {.attrs = "is_causal, scale", .where = "dropout_p: 0"};

const RegisteredOp registered{{
    .name = kName,
    .ir_name = kName,
    .summary = "out = softmax(scale*Q*K^T + mask)*V by heads; a mask of bool shows pairs",
    .source = "torch.nn.functional.scaled_dot_product_attention",
    .known_as =
        {.calls = {{"scaled_dot_product_attention, _scaled_dot_product_attention_math",
                    "query, key, value, attn_mask?", "output|result0|result", kRules},
                   {"_scaled_dot_product_flash_attention, _scaled_dot_product_efficient_attention, "
                    "_scaled_dot_product_cudnn_attention, "
                    "_scaled_dot_product_flash_attention_for_cpu, "
                    "_scaled_dot_product_fused_attention_overrideable",
                    "query, key, value, attn_mask|attn_bias?",
                    "output|result0, logsumexp|log_sumexp|result1", kRules}},
         .profiled = {{"aten::scaled_dot_product_attention, "
                       "aten::_scaled_dot_product_attention_math, "
                       "aten::_scaled_dot_product_fused_attention_overrideable",
                       "query, key, value, attn_mask, , =is_causal"},
                      {"aten::_scaled_dot_product_flash_attention, "
                       "aten::_scaled_dot_product_flash_attention_for_cpu",
                       "query, key, value, , =is_causal"},
                      {"aten::_scaled_dot_product_efficient_attention, "
                       "aten::_scaled_dot_product_cudnn_attention",
                       "query, key, value, attn_mask, , , =is_causal"}}},
    .inputs = {{"query", "query", {}, attention_query_data},
               {"key", "key", {}, attention_key_data},
               {"value", "value", {}, unit_data},
               mask()},
    .outputs = {{"output"}, of_rows(nullptr)},
    .optional_inputs = 1,
    .attrs = attributes(),
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer,
    .reference = reference,
    .terms = terms,
    .traffic = traffic,
    .gradient = gradient,
    .inputs_like = inputs_like,
    .mixing = Mixing::other,
    .holds_fp32 = true,
    .takes_functions = true,
    .context = {.needs_fp32 = true},
}};

const RegisteredOp registered_grad{{
    .name = kGradName,
    .ir_name = "ScaledDotProductAttentionBackward",
    .summary = "dv = sum(P*dy), dS = P*(dy*V^T - sum(dy*out)), dq = scale*dS*K, dk = "
               "scale*dS^T*Q, with P = exp(S - logsumexp)",
    .source = "torch.nn.functional.scaled_dot_product_attention backward",
    .known_as = {.calls = {{"_scaled_dot_product_flash_attention_backward, "
                            "_scaled_dot_product_efficient_attention_backward, "
                            "_scaled_dot_product_cudnn_attention_backward, "
                            "_scaled_dot_product_flash_attention_for_cpu_backward, "
                            "_scaled_dot_product_fused_attention_overrideable_backward, "
                            "ScaledDotProductFlashAttentionBackward, "
                            "ScaledDotProductEfficientAttentionBackward, "
                            "ScaledDotProductCudnnAttentionBackward, "
                            "ScaledDotProductFlashAttentionForCpuBackward, "
                            "ScaledDotProductFusedAttentionOverrideableBackward",
                            "query, key, value, grad_out|grad_out_|grads/grads_0, "
                            "logsumexp|log_sumexp, out|output, attn_mask|attn_bias?",
                            "grad_query|result0|grad_inputs/grad_inputs_0, "
                            "grad_key|result1|grad_inputs/grad_inputs_1, "
                            "grad_value|result2|grad_inputs/grad_inputs_2",
                            kRules}}},
    .inputs = {{"query", "query", {}, attention_query_data},
               {"key", "key", {}, attention_key_data},
               {"value", "value", {}, unit_data},
               {"grad_output", "grads/grads_0", {}, unit_data},
               of_rows(logsumexp_data),
               {"output", "output", {}, unit_data},
               mask()},
    .outputs = {{"grad_query", "grad_inputs/grad_inputs_0"},
                {"grad_key", "grad_inputs/grad_inputs_1"},
                {"grad_value", "grad_inputs/grad_inputs_2"}},
    .optional_inputs = 1,
    .attrs = attributes(),
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer_grad,
    .reference = reference_grad<Sum::values>,
    .terms =
        [](std::span<const InputReader> inputs, const Attrs& attrs) {
          return Terms{.magnitude = reference_grad<Sum::terms>(inputs, attrs)};
        },
    .traffic = traffic,
    .inputs_like = inputs_like_grad,
    .mixing = Mixing::other,
    .holds_fp32 = true,
    .takes_functions = true,
    .context = {.needs_fp32 = true},
}};

}  // namespace
}  // namespace opbench
