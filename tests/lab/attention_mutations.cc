// Mutations of attention. Most run the correct kernel with other attributes or inputs.
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "ops/attention.h"
#include "tests/lab/changed_inputs.h"

namespace opbench {
namespace {

bool is_causal(Run run) {
  const auto& values = run.problem().attrs.values();
  const auto mode = values.find("sparse_mode");
  if (mode != values.end()) return std::get<std::int64_t>(mode->second) == 3;
  return run.problem().attrs.flag("is_causal");
}

BrokenResults one_key_too_many(Run run) {
  if (!is_causal(run)) return std::nullopt;
  if (run.problem().op->name != "scaled_dot_product_attention") {
    return run.results_with("sparse_mode=4,next_tokens=1");
  }
  std::vector<TensorDesc> descs = run.problem().inputs;
  const std::int64_t queries = descs[0].shape[2], keys = descs[1].shape[2];
  descs.push_back(describe(DType::boolean, {queries, keys}));
  Elements mask;
  for (std::int64_t i = 0; i < queries * keys; ++i) {
    mask.push_back(std::byte{i % keys <= i / keys + 1});
  }
  InputElements inputs = run.inputs();
  inputs.push_back(std::move(mask));
  return run.results_of(std::move(descs), "is_causal=false", inputs);
}

// In the layout BNSD.
BrokenResults without_last_key(Run run) {
  std::vector<TensorDesc> descs = run.problem().inputs;
  if (descs.size() > 3 || descs[1].shape.size() != 4 || is_causal(run)) return std::nullopt;
  InputElements inputs = run.inputs();
  for (const std::size_t input : {1, 2}) {
    Elements kept;
    change_slices(run, inputs, input, 2, [&](auto begin, auto end, std::int64_t size) {
      kept.insert(kept.end(), begin, end - size);
    });
    inputs[input] = std::move(kept);
    Dims shape = descs[input].shape;
    --shape[2];
    descs[input] = with_shape(descs[input], std::move(shape));
  }
  return run.results_of(std::move(descs), "", inputs);
}

// Head h of the queries has head h % key heads instead of h / group. In the layout BNSD.
BrokenResults interleaved_groups(Run run) {
  std::vector<TensorDesc> descs = run.problem().inputs;
  const Attention a = attention_of(run.problem());
  if (descs.size() > 3 || descs[1].shape.size() != 4 || a.group() == 1) return std::nullopt;
  InputElements inputs = run.inputs();
  for (const std::size_t input : {1, 2}) {
    Elements repeated;
    change_slices(run, inputs, input, 1, [&](auto begin, auto end, std::int64_t) {
      for (std::int64_t i = 0; i < a.group(); ++i) repeated.insert(repeated.end(), begin, end);
    });
    inputs[input] = std::move(repeated);
    Dims shape = descs[input].shape;
    shape[1] = a.heads;
    descs[input] = with_shape(descs[input], std::move(shape));
  }
  const bool is_inference = run.problem().op->ir_name == "FusedInferAttentionScore";
  return run.results_of(std::move(descs), is_inference ? "num_key_value_heads=0" : "", inputs);
}

BrokenResults next_head(Run run) {
  if (run.problem().inputs[1].shape.size() != 4) return std::nullopt;
  return next_slice(run, {1, 2}, 1);
}

// A row of attention with tiles of four keys, whose results are not scaled when the maximum rises.
void add_unscaled_row(const std::vector<double>& scores, const double* values,
                      std::int64_t distance, std::span<double> to) {
  constexpr std::size_t kTile = 4;
  double greatest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (std::size_t first = 0; first < scores.size(); first += kTile) {
    const std::size_t end = std::min(first + kTile, scores.size());
    const double before = greatest;
    for (std::size_t j = first; j < end; ++j) greatest = std::max(greatest, scores[j]);
    sum *= std::exp(before - greatest);
    for (std::size_t j = first; j < end; ++j) {
      const double share = std::exp(scores[j] - greatest);
      sum += share;
      const double* const value = values + std::int64_t(j) * distance;
      for (std::size_t d = 0; d < to.size(); ++d) to[d] += share * value[d];
    }
  }
  for (double& value : to) value /= sum;
}

BrokenResults not_rescaled(Run run) {
  const Problem& problem = run.problem();
  if (problem.inputs.size() > 3) return std::nullopt;
  const Attention a = attention_of(problem);
  std::vector<double> in[3], out(std::size_t(problem.outputs[0].elements()));
  for (std::size_t i = 0; i < 3; ++i) in[i] = run.values(problem.inputs[i], run.inputs()[i]);
  AttentionSequence s;
  s.queries = a.queries, s.keys = a.keys, s.visibility = a.visibility();
  for (std::int64_t row = 0; row < a.batch * a.heads * a.queries; ++row) {
    const std::int64_t b = row / a.queries / a.heads, h = row / a.queries % a.heads,
                       i = row % a.queries;
    const double* const q = in[0].data() + a.query.at(b, h, i);
    std::vector<double> scores;
    for (std::int64_t j = 0; j < a.visible(s, i).end; ++j) {
      const double* const k = in[1].data() + a.key.at(b, h / a.group(), j);
      double& score = scores.emplace_back(0);
      for (std::int64_t d = 0; d < a.size; ++d) score += q[d] * k[d];
      score *= double(a.scale);
    }
    add_unscaled_row(scores, in[2].data() + a.value.at(b, h / a.group(), 0), a.value.row,
                     {out.data() + a.out.at(b, h, i), std::size_t(a.value_size)});
  }
  std::vector<Elements> results = run.results();
  results[0] = run.elements(problem.outputs[0], out);
  return results;
}

constexpr std::array kAttentionMutations = {
    Mutation{"late-mask",
             "a query sees one key too many",
             one_key_too_many,
             {"flash_attention_score", "flash_attention_score_grad", "scaled_dot_product_attention",
              "fused_infer_attention_score"}},
    Mutation{
        "no-causality",
        "queries see all keys",
        with<"sparse_mode=0">,
        {"flash_attention_score", "flash_attention_score_grad", "fused_infer_attention_score"}},
    Mutation{"no-causality",
             "queries see all keys",
             with<"is_causal=false">,
             {"scaled_dot_product_attention", "scaled_dot_product_attention_grad"}},
    Mutation{"shifted-mask",
             "the mask read one element too far",
             next_slice_of<3, -1>,
             {"scaled_dot_product_attention"}},
    Mutation{"shifted-mask",
             "the mask read one element too far",
             next_slice_of<5, -1>,
             {"flash_attention_score"}},
    Mutation{"no-scale",
             "scores are not scaled",
             with<"scale_value=1">,
             {"flash_attention_score", "flash_attention_score_grad"}},
    Mutation{"no-scale",
             "scores are not scaled",
             with<"scale=1">,
             {"scaled_dot_product_attention", "scaled_dot_product_attention_grad",
              "fused_infer_attention_score"}},
    Mutation{
        "last-key",
        "the last key is skipped",
        without_last_key,
        {"flash_attention_score", "scaled_dot_product_attention", "fused_infer_attention_score"}},
    Mutation{"next-head",
             "keys and values of the next head",
             next_head,
             {"flash_attention_score", "flash_attention_score_grad", "scaled_dot_product_attention",
              "scaled_dot_product_attention_grad", "fused_infer_attention_score"}},
    Mutation{
        "not-rescaled",
        "sums of tiles are not scaled by a later maximum",
        not_rescaled,
        {"flash_attention_score", "scaled_dot_product_attention", "fused_infer_attention_score"}},
    Mutation{
        "interleaved-groups",
        "heads of queries have the keys of another group",
        interleaved_groups,
        {"flash_attention_score", "scaled_dot_product_attention", "fused_infer_attention_score"}},
    Mutation{"next-page",
             "pages of the next sequence",
             next_slice_of<6, 0>,
             {"fused_infer_attention_score"}},
    Mutation{
        "equal-parts", "parts are joined with equal weights", with_zero<0>, {"attention_update"}},
};

}  // namespace

std::span<const Mutation> attention_mutations() { return kAttentionMutations; }

}  // namespace opbench
