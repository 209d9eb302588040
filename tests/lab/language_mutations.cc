// Mutations of other operators of language models, detectors and recommenders. Most run the correct
// kernel with other attributes or inputs.
#include <array>
#include <cmath>

#include "tests/lab/changed_inputs.h"

namespace opbench {
namespace {

double with_eps_outside(double mean, double eps, double) { return 1 / (std::sqrt(mean) + eps); }
double without_eps(double mean, double, double) { return 1 / std::sqrt(mean); }
double by_one_less(double mean, double eps, double n) {
  return 1 / std::sqrt(mean * n / (n - 1) + eps);
}

// y = x*f(mean square)*weight by rows of n elements; f is also the second output.
template <double (*f)(double mean, double eps, double n)>
BrokenResults with_rows(Run run) {
  const Problem& problem = run.problem();
  if (!has(run, 1)) return std::nullopt;
  std::vector<double> y = run.values(problem.inputs[0], run.inputs()[0]), roots;
  const std::vector<double> weight = run.values(problem.inputs[1], run.inputs()[1]);
  const double offset = problem.attrs.number("weight_offset");
  const std::size_t n = weight.size();
  for (std::size_t row = 0; row < y.size(); row += n) {
    double squares = 0;
    for (std::size_t i = 0; i < n; ++i) squares += y[row + i] * y[row + i];
    roots.push_back(f(squares / double(n), problem.attrs.number("epsilon"), double(n)));
    for (std::size_t i = 0; i < n; ++i) y[row + i] *= roots.back() * (weight[i] + offset);
  }
  return std::vector{run.elements(problem.outputs[0], y), run.elements(problem.outputs[1], roots)};
}

// Steps of dynamic_quant without smooth scales, by rows. `step(x/scale, offset)`.
template <class Step>
BrokenResults with_steps(Run run, Step step) {
  const Problem& problem = run.problem();
  if (has(run, 1)) return std::nullopt;
  std::vector<Elements> results = run.results();
  const auto values = [&](std::size_t i) { return run.values(problem.outputs[i], results[i]); };
  const std::vector<double> x = run.values(problem.inputs[0], run.inputs()[0]), scale = values(1);
  const std::vector<double> offset = results.size() > 2 ? values(2) : std::vector(scale.size(), 0.);
  std::vector<double> y(x.size());
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::size_t row = i / (y.size() / scale.size());
    y[i] = step(x[i] / scale[row], offset[row]);
  }
  results[0] = run.elements(problem.outputs[0], y);
  return results;
}

BrokenResults towards_zero(Run run) {
  return with_steps(run, [](double x, double offset) { return std::trunc(x + offset); });
}
BrokenResults without_offset(Run run) {
  return with_steps(run, [](double x, double) { return std::nearbyint(x); });
}

BrokenResults of_next_group(Run run) {
  if (run.problem().attrs.integer("antiquant_group_size") == 0) return std::nullopt;
  return next_slice(run, {2}, 0);
}

// The step of AdamW with the same numbers.
BrokenResults unscaled(Run run) {
  const Attrs& attrs = run.problem().attrs;
  if (attrs.number("weight_decay") == 0) return std::nullopt;
  std::vector<Elements> results = run.results_with("weight_decay=0");
  const TensorDesc& desc = run.problem().outputs[0];
  const std::vector<double> before = run.values(desc, run.inputs()[0]);
  std::vector<double> after = run.values(desc, results[0]);
  const double decay = attrs.number("lr") * attrs.number("weight_decay");
  for (std::size_t i = 0; i < after.size(); ++i) after[i] -= decay * before[i];
  results[0] = run.elements(desc, after);
  return results;
}

// The greatest v does not exist, and the first three results are those of Adam.
BrokenResults without_amsgrad(Run run) {
  if (run.problem().inputs.size() < 5) return std::nullopt;
  std::vector<TensorDesc> descs = run.problem().inputs;
  InputElements inputs = run.inputs();
  descs.pop_back(), inputs.pop_back();
  std::vector<Elements> results = run.results_of(std::move(descs), "", inputs);
  results.push_back(run.results().back());
  return results;
}

// Sigmoids of the chosen experts, not divided by their sum.
BrokenResults not_renormalised(Run run) {
  const Problem& problem = run.problem();
  if (problem.attrs.integer("norm_type") != 1) return std::nullopt;
  const std::vector<double> x = run.values(problem.inputs[0], run.inputs()[0]),
                            chosen = run.values(problem.outputs[1], run.results()[1]);
  const auto experts = std::size_t(problem.inputs[0].shape.back()),
             k = std::size_t(problem.outputs[1].shape.back());
  std::vector<double> y(chosen.size());
  for (std::size_t i = 0; i < y.size(); ++i) {
    y[i] = 1 / (1 + std::exp(-x[i / k * experts + std::size_t(chosen[i])]));
  }
  std::vector<Elements> results = run.results();
  results[0] = run.elements(problem.outputs[0], y);
  return results;
}

constexpr std::array kLanguageMutations = {
    Mutation{"eps-outside", "eps is added to the root", with_rows<with_eps_outside>, {"rms_norm"}},
    Mutation{"no-eps", "without eps", with_rows<without_eps>, {"rms_norm"}},
    Mutation{"wrong-count", "divided by the count less one", with_rows<by_one_less>, {"rms_norm"}},
    Mutation{"other-pairs",
             "pairs are neighbours, not from both halves",
             with<"mode=interleave">,
             {"rope", "rope_grad"}},
    Mutation{"other-turn", "the sine has the other sign", with_negated<2>, {"rope", "rope_grad"}},
    Mutation{
        "swapped-halves", "the other half is activated", with_swapped_halves_of<0>, {"swiglu"}},
    Mutation{"swapped-halves",
             "the other half is activated",
             with_swapped_halves_of<1>,
             {"swiglu_grad"}},
    Mutation{"swapped-halves",
             "the other half is activated",
             with<"activate_left=true">,
             {"dequant_swiglu_quant"}},
    Mutation{"other-pairs",
             "pairs are from both halves, not neighbours",
             with<"interleaved=false">,
             {"clipped_swiglu", "clipped_swiglu_grad"}},
    Mutation{"no-limit",
             "nothing is clipped",
             with<"limit=1e30">,
             {"clipped_swiglu", "clipped_swiglu_grad"}},
    Mutation{"towards-zero", "rounded towards zero", with<"round_mode=trunc">, {"ascend_quant_v2"}},
    Mutation{"towards-zero", "rounded towards zero", towards_zero, {"dynamic_quant"}},
    Mutation{"no-offset", "the offset is ignored", without_offset, {"dynamic_quant"}},
    Mutation{"no-offset",
             "the offset is ignored",
             with_zero<2>,
             {"ascend_quant_v2", "ascend_anti_quant"}},
    Mutation{"no-offset", "the offset is ignored", with_zero<3>, {"weight_quant_batch_matmul_v2"}},
    Mutation{"no-offset", "the offset is ignored", with_zero<4>, {"dequant_swiglu_quant"}},
    Mutation{"next-channel",
             "the scale of the next channel",
             next_slice_of<2, -1>,
             {"weight_quant_batch_matmul_v2", "quant_batch_matmul_v3", "block_quant_matmul"}},
    Mutation{"next-group",
             "the scale of the next group",
             of_next_group,
             {"weight_quant_batch_matmul_v2"}},
    Mutation{"next-token",
             "the scale of the next token",
             next_slice_of<5, 0>,
             {"quant_batch_matmul_v3"}},
    Mutation{
        "next-token", "the scale of the next token", next_slice_of<2, 0>, {"dequant_swiglu_quant"}},
    Mutation{"gate-order",
             "f and g, or r and z, are exchanged",
             with<"gate_order=igfo">,
             {"lstm", "lstm_grad"}},
    Mutation{"gate-order",
             "f and g, or r and z, are exchanged",
             with<"gate_order=zrn">,
             {"gru", "gru_grad"}},
    Mutation{"no-forget-bias",
             "the bias of the forget gate is ignored",
             with<"forget_bias=0">,
             {"lstm", "lstm_grad"}},
    Mutation{"no-bias",
             "the bias of h is ignored",
             with_zero<4>,
             {"lstm", "gru", "lstm_gates", "gru_gates"}},
    Mutation{"no-bias", "the bias of h is ignored", with_zero<5>, {"gru_cell"}},
    Mutation{"no-bias", "the bias of h is ignored", with_zero<6>, {"lstm_cell", "gru_grad"}},
    Mutation{"no-bias", "the bias of h is ignored", with_zero<7>, {"lstm_grad"}},
    Mutation{"first-state", "the first state is ignored", with_zero<5>, {"lstm", "gru"}},
    Mutation{"wrong-direction",
             "from the last step to the first",
             with<"reverse=true">,
             {"lstm", "gru", "lstm_grad", "gru_grad"}},
    Mutation{
        "next-token", "the scale of the next token", next_slice_of<3, 0>, {"block_quant_matmul"}},
    Mutation{
        "next-block", "the scale of the next block", next_slice_of<3, 1>, {"block_quant_matmul"}},
    Mutation{"not-maximised", "maximize is ignored", with<"maximize=false">, {"adam"}},
    Mutation{"no-decay", "weight decay is ignored", with<"weight_decay=0">, {"lamb"}},
    Mutation{"no-trust-ratio", "the rate is not scaled", unscaled, {"lamb"}},
    Mutation{"not-decoupled", "decoupled is ignored", with<"decoupled=false">, {"adam"}},
    Mutation{"no-amsgrad", "the greatest v is ignored", without_amsgrad, {"adam"}},
    Mutation{"not-renormalised",
             "weights of experts do not add up to 1",
             with<"renorm=0">,
             {"moe_gating_top_k_softmax"}},
    Mutation{"not-renormalised",
             "weights of experts do not add up to 1",
             not_renormalised,
             {"moe_gating_top_k"}},
    Mutation{"last-expert",
             "the last expert of a token is dropped",
             without_last_of<5, 1>,
             {"moe_finalize_routing_v2"}},
    Mutation{"last-expert",
             "the last expert of a token is dropped",
             without_last_of<2, 1>,
             {"moe_token_unpermute"}},
    Mutation{
        "last-expert", "the last expert is dropped", without_last_of<1, 0>, {"grouped_matmul"}},
    Mutation{
        "next-expert", "the weights of the next expert", next_slice_of<1, 0>, {"grouped_matmul"}},
    Mutation{"other-order",
             "copies of tokens in the order of rows",
             with<"drop_pad_mode=2">,
             {"moe_finalize_routing_v2", "moe_finalize_routing_v2_grad"}},
    Mutation{"no-bias", "the bias is ignored", with_zero<4>, {"moe_finalize_routing_v2_grad"}},
    Mutation{"not-renormalised",
             "shares of experts do not add up to 1",
             with<"shares=softmax">,
             {"moe_gating_grad"}},
    Mutation{"no-factor", "the factor is ignored", with<"factor=1">, {"moe_gating_grad"}},
    Mutation{"padding-counts",
             "padding is not left out",
             with<"padding_idx=-1">,
             {"embedding_bag", "embedding_bag_grad", "embedding_bag_weights_grad"}},
    Mutation{"not-aligned",
             "boxes half a place off",
             with<"aligned=false">,
             {"roi_align", "roi_align_grad"}},
    Mutation{"one-sample",
             "one sample for each bin",
             with<"sampling_ratio=1">,
             {"roi_align", "roi_align_grad"}},
    Mutation{"all-kept", "no box is suppressed", with<"iou_threshold=1">, {"nms"}},
    Mutation{"other-overlap", "a threshold of 0.3", with<"iou_threshold=0.3">, {"nms"}},
    Mutation{"no-value", "small elements become 0", with<"value=0">, {"threshold"}},
};

}  // namespace

std::span<const Mutation> language_mutations() { return kLanguageMutations; }

}  // namespace opbench
