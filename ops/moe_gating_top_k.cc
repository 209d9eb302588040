// The gate of a mixture of experts: the experts of each token and their shares.
#include <fmt/format.h>

#include <algorithm>

#include "ops/choice.h"
#include "ops/elementwise.h"
#include "ops/experts.h"
#include "ops/matmul.h"
#include "ops/moe_gating.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kSoftmaxName = "moe_gating_top_k_softmax", kName = "moe_gating_top_k";
using Numbers = std::vector<double>;

IndexChoice::Scores scores(std::span<const InputReader> inputs, const Attrs& attrs) {
  Gated all(inputs, attrs);
  return {std::move(all.scores), std::move(all.score_terms)};
}

Reference softmax_reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Gating of(inputs[0].desc(), attrs);
  Gated all(inputs, attrs);
  const Numbers finished = is_given(inputs, 1) ? inputs[1].read_all() : Numbers();
  Numbers experts(all.chosen.begin(), all.chosen.end()), rows;
  for (std::int64_t t = 0; t < of.tokens; ++t) {
    for (std::int64_t j = 0; j < of.k; ++j) rows.push_back(double(j * of.tokens + t));
    if (finished.empty() || finished[static_cast<std::size_t>(t)] == 0) continue;
    std::fill_n(experts.begin() + t * of.k, of.k, double(of.experts));
  }
  return elements_of({std::move(all.y), std::move(experts), std::move(rows)});
}

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  Gated all(inputs, attrs);
  return elements_of(
      {std::move(all.y), Numbers(all.chosen.begin(), all.chosen.end()), std::move(all.shares)});
}

// Indices are compared without a bound.
Terms terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  Gated all(inputs, attrs);
  Numbers none(all.chosen.size());
  return {.magnitude = elements_of({std::move(all.y_terms), none, std::move(all.share_terms)})};
}

std::vector<TensorDesc> chosen_descs(const TensorDesc& x, std::int64_t k) {
  Dims shape = x.shape;
  shape.back() = k;
  return {describe(x.dtype, shape), describe(DType::int32, shape)};
}

void require_experts(std::string_view op, const TensorDesc& x, std::int64_t k,
                     std::int64_t candidates) {
  if (k <= candidates) return;
  throw Error(fmt::format("{}: k is {} for 'x' of shape {}; allowed: 1 to {}, the candidates", op,
                          k, to_string(x.shape), candidates));
}

std::vector<TensorDesc> softmax_infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const TensorDesc& x = inputs[0];
  if (x.shape.size() != 3) require_rank(kSoftmaxName, "x", x, 2, "[tokens, experts]");
  require_experts(kSoftmaxName, x, attrs.integer("k"), x.shape.back());
  if (is_given(inputs, 1) && inputs[1].shape != Dims(x.shape.begin(), x.shape.end() - 1)) {
    throw Error(
        fmt::format("{}: 'finished' has shape {}; allowed: that of 'x', {}, without experts",
                    kSoftmaxName, to_string(inputs[1].shape), to_string(x.shape)));
  }
  std::vector<TensorDesc> outputs = chosen_descs(x, attrs.integer("k"));
  outputs.push_back(outputs[1]);
  return outputs;
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const TensorDesc& x = inputs[0];
  require_rank(kName, "x", x, 2, "[tokens, experts]");
  const Gating of(x, attrs);
  const bool divides = of.experts % of.groups == 0 && of.kept_groups <= of.groups;
  if (!divides || (of.sums_two && of.group_size() < 2)) {
    throw Error(
        fmt::format("{}: group_count is {} and k_group {} for {} experts; allowed: groups "
                    "of equal size, at least two experts each in group_select_mode 1, and "
                    "no more chosen than there are",
                    kName, of.groups, of.kept_groups, of.experts));
  }
  require_experts(kName, x, of.k, of.kept_groups * of.group_size());
  if (is_given(inputs, 1) && inputs[1].shape != Dims{of.experts}) {
    throw Error(fmt::format("{}: 'bias' has shape {}; allowed: {}, one number for each expert",
                            kName, to_string(inputs[1].shape), of.experts));
  }
  std::vector<TensorDesc> outputs = chosen_descs(x, of.k);
  if (attrs.flag("out_flag")) outputs.push_back(describe(DType::fp32, x.shape));
  return outputs;
}

std::optional<IndexedLines> indexed(const Problem& problem, std::size_t output) {
  if (output != 1) return std::nullopt;
  const Gating of(problem.inputs[0], problem.attrs);
  return IndexedLines{
      .outer = of.tokens, .extent = of.experts, .places = of.k, .are_distinct = true};
}

std::string zero_or_one(const AttrValue& value) {
  const auto number = std::get<std::int64_t>(value);
  return number == 0 || number == 1 ? "" : "it must be 0 or 1";
}

AttrSpec k_attr() { return {"k", std::int64_t{1}, "experts of a token", must_be_positive}; }

TensorSpec index_output(std::string_view name) {
  return {.name = name, .ir_path = name, .differentiable = false};
}

const RegisteredOp registered_softmax{{
    .name = kSoftmaxName,
    .ir_name = "npu_moe_gating_top_k_softmax",
    .summary = "the k greatest shares softmax(x) of each token, their experts (of finished tokens: "
               "their number), and the rows of their copies, j*tokens + t",
    .source = "torch_npu npu_moe_gating_top_k_softmax; CANN MoeGatingTopKSoftmax",
    .known_as = {.calls = {{"npu_moe_gating_top_k_softmax, MoeGatingTopKSoftmax",
                            "x, finished?",
                            "y|result0, expert_idx|result1, row_idx|result2",
                            {.attrs = "k", .needs = "k"}},
                           {"MoeGatingTopKSoftmaxV2",
                            "x, finished?",
                            "y, expert_idx",
                            {.attrs = "k, renorm", .needs = "k"}}},
                 .likely = likely_of_topk},
    .inputs = {{"x", "x", {}, unit_data},
               {.name = "finished",
                .dtypes = {DType::boolean},
                .data =
                    [](const Problem&) {
                      return Distribution{DistributionKind::integers, 0, 1};
                    }}},
    .outputs = {{"y"}, index_output("expert_idx"), index_output("row_idx")},
    .optional_inputs = 1,
    .attrs = {k_attr(),
              {"renorm", std::int64_t{0}, "1: the shares are softmax of the k greatest x",
               zero_or_one}},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = softmax_infer,
    .reference = softmax_reference,
    .terms = terms,
    .indexed = indexed,
    .traffic = input_traffic<5>,
    .gradient = gradient_of_gate,
    .inputs_like = [](const Dims& shape, const Attrs&) { return std::vector<Dims>{shape}; },
    .mixing = Mixing::other,
    .holds_fp32 = true,
    .takes_functions = true,
}};

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "npu_moe_gating_top_k",
    .summary =
        "the k experts of each token with the greatest share + bias, within its best groups; "
        "y = their shares (softmax, or sigmoid over their sum) times a factor",
    .source = "torch_npu npu_moe_gating_top_k; CANN MoeGatingTopK; DeepSeek-V3, arXiv:2412.19437",
    .known_as = {.calls = {{"npu_moe_gating_top_k, MoeGatingTopK",
                            "x, bias?",
                            "y|result0, expert_idx|result1, out|norm_out|result2",
                            {.attrs = "k, k_group, group_count, group_select_mode, norm_type, "
                                      "out_flag, routed_scaling_factor, eps",
                             .where = "renorm: 0, out_flag: 1",
                             .needs = "k"}},
                           {"npu_moe_gating_top_k, MoeGatingTopK",
                            "x, bias?",
                            "y|result0, expert_idx|result1",
                            {.attrs = "k, k_group, group_count, group_select_mode, norm_type, "
                                      "routed_scaling_factor, eps",
                             .where = "renorm: 0",
                             .needs = "k"}}},
                 .likely = likely_of_topk},
    .inputs = {{"x", "x", {}, unit_data}, {"bias", "bias", {}, unit_data}},
    .outputs = {{"y"}, index_output("expert_idx"), index_output("norm_out")},
    .optional_inputs = 1,
    .attrs = {k_attr(),
              {"k_group", std::int64_t{1}, "groups whose experts are candidates", must_be_positive},
              {"group_count", std::int64_t{1}, "groups of experts", must_be_positive},
              {"group_select_mode", std::int64_t{0},
               "a group counts as its best expert (0) or as its best two (1)", zero_or_one},
              {"norm_type", std::int64_t{0}, "shares: 0 softmax, 1 sigmoid", zero_or_one},
              {"out_flag", false, "a third output with the shares of all experts"},
              {"routed_scaling_factor", 1.0, "the factor of y"},
              {"eps", 1e-20, "added to the sum of the chosen sigmoids"}},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer,
    .reference = reference,
    .terms = terms,
    .indexed = indexed,
    .traffic = input_traffic<6>,
    .gradient = gradient_of_gate,
    .inputs_like =
        [](const Dims& shape, const Attrs&) {
          return std::vector<Dims>{shape, {shape.empty() ? 1 : shape.back()}};
        },
    .mixing = Mixing::other,
    .holds_fp32 = true,
    .takes_functions = true,
}};

const RegisteredChoice kChoices[] = {RegisteredChoice({kSoftmaxName, 1, scores}),
                                     RegisteredChoice({kName, 1, scores})};

}  // namespace
}  // namespace opbench
