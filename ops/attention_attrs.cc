// Attributes and inputs that attention and its gradient have in common.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/attention.h"
#include "ops/index.h"

namespace opbench {
namespace {

// Sources of the attributes in dumps of torch_npu and CANN. Both have a scale of 1 if none is
// given.
constexpr std::string_view kAttentionSources =
    "head_num, input_layout: input_layout as BNSD|BSND|BSH|SBH|TND, scale_value: "
    "scale_value|scale, "
    "keep_prob, sparse_mode, pre_tokens: pre_tockens|pre_tokens, next_tokens: "
    "next_tockens|next_tokens, pse_type";
constexpr std::string_view kUnscaledAttentionSources =
    "head_num, input_layout: input_layout as BNSD|BSND|BSH|SBH|TND, scale_value: =1, keep_prob, "
    "sparse_mode, pre_tokens: pre_tockens|pre_tokens, next_tokens: next_tockens|next_tokens, "
    "pse_type";
// Those of calls without atten_mask, in which sparse_mode has no effect.
constexpr std::string_view kMasklessAttentionSources =
    "head_num, input_layout: input_layout as BNSD|BSND|BSH|SBH|TND, scale_value: "
    "scale_value|scale, keep_prob, sparse_mode: =0, pse_type";
constexpr std::string_view kUnscaledMasklessAttentionSources =
    "head_num, input_layout: input_layout as BNSD|BSND|BSH|SBH|TND, scale_value: =1, keep_prob, "
    "sparse_mode: =0, pse_type";
// Operands that the operators here do not take.
constexpr std::string_view kUnknownOfAttention =
    "query_rope:, key_rope:, q_start_idx/0:, kv_start_idx/0:, q_start_idx:, kv_start_idx:, "
    "d_scale_q:";
constexpr std::string_view kUnknownOfMasklessAttention =
    "query_rope:, key_rope:, q_start_idx/0:, kv_start_idx/0:, q_start_idx:, kv_start_idx:, "
    "d_scale_q:, atten_mask:";
// Attributes of profiles, which have neither the scale nor the layout.
constexpr std::string_view kProfiledAttentionSources =
    "head_num, input_layout: input_layout as BNSD|BSND|BSH|SBH|TND, sparse_mode";

constexpr std::int64_t kUnlimited = 2147483647;  // pre_tokens and next_tokens of CANN
constexpr std::string_view kLayouts = "BNSD, BSND, BSH, SBH, TND";
constexpr double kMostElement = 2;  // of random queries and keys

std::string at_least_0(const AttrValue& value) {
  return std::get<std::int64_t>(value) >= 0 ? "" : "it must be 0 or more";
}

template <std::int64_t kMost>
std::string up_to(const AttrValue& value) {
  const std::int64_t number = std::get<std::int64_t>(value);
  return number >= 0 && number <= kMost ? "" : fmt::format("it must be from 0 to {}", kMost);
}

Distribution totals(std::int64_t rows, const TensorDesc& ends) {
  const std::int64_t count = std::max<std::int64_t>(1, ends.elements());
  const double each = std::floor(double(rows) / double(count));
  return {DistributionKind::arange, each, each};
}

// Slopes are positive, so that far keys have small shares.
Distribution shift_data(const Problem& problem) {
  if (problem.attrs.integer("pse_type") >= 2) return {DistributionKind::uniform, 0, 0.5};
  return {DistributionKind::uniform, -1, 1};
}
Distribution sink_data(const Problem&) { return {DistributionKind::uniform, -1, 1}; }

TensorSpec optional_input(std::string_view name, std::vector<DType> dtypes,
                          Distribution (*data)(const Problem& problem) = nullptr) {
  TensorSpec spec{name, name, std::move(dtypes), data};
  spec.differentiable = false;
  return spec;
}

// Statistics as one axis have the number of heads, and the order of batch and sequence is open: the
// longer one is the sequence.
LikelyAttrs likely_of_flat_statistics(const Dims& query, std::int64_t count, const Shapes& inputs) {
  constexpr std::int64_t kEach = kStatisticCopies;
  const std::int64_t a = query.empty() ? 0 : query[0], b = query.size() < 2 ? 0 : query[1];
  Shapes shapes;
  if (query.size() == 3 && a * b > 0 && count % (a * b * kEach) == 0) {
    const std::int64_t heads = count / (a * b * kEach);
    shapes = {{b, heads, a, kEach}, {a, heads, b, kEach}};
    if (a < b) std::swap(shapes[0], shapes[1]);
    if (heads == 1) shapes.push_back({a, b, kEach});
  } else if (query.size() == 4 && count == a * b * query[2] * kEach) {
    shapes = {{a, b, query[2], kEach}, {a, query[2], b, kEach}};
    if (query[2] < b) std::swap(shapes[0], shapes[1]);
  }
  LikelyAttrs all;
  for (const Dims& shape : shapes) {
    for (NamedNumbers& one : likely_of_attention(query, shape, inputs)) {
      all.push_back(std::move(one));
    }
  }
  return all;
}

}  // namespace

std::vector<AttrSpec> attention_attrs() {
  return {
      {"head_num", std::int64_t{0},
       "heads of the query; 0: those of a layout with an axis of heads", at_least_0},
      {"input_layout", std::string("BNSD"), "BNSD, BSND, BSH, SBH or TND (sequences end at totals)",
       [](const AttrValue& value) -> std::string {
         const auto& word = std::get<std::string>(value);
         const std::vector<std::string> all = items_of(kLayouts);
         return std::find(all.begin(), all.end(), word) != all.end()
                    ? ""
                    : fmt::format("it must be one of {}", kLayouts);
       }},
      {"scale_value", 0.0, "factor of the scores; 0: 1/sqrt(size of a head)"},
      {"keep_prob", 1.0, "share of the pairs that drop_mask keeps",
       [](const AttrValue& value) -> std::string {
         const double keep = std::get<double>(value);
         return keep > 0 && keep <= 1 ? "" : "it must be greater than 0 and at most 1";
       }},
      {"sparse_mode", std::int64_t{0},
       "0, 1: all pairs or atten_mask; 2: causal from the left upper corner; 3: from the right "
       "lower corner; 4: band; 5, 6: prefix; 7, 8: causal, band in the last or first sequence",
       up_to<8>},
      {"pre_tokens", kUnlimited, "keys before the diagonal in a band"},
      {"next_tokens", kUnlimited, "keys after the diagonal in a band"},
      {"pse_type", std::int64_t{1},
       "real_shift: 0: added after the scale; 1: before; 2: times -|distance|; 3: times the root "
       "of the distance",
       up_to<3>},
      {"softmax_layout", std::string(), "of statistics for TND: empty: by heads; TND: by rows",
       [](const AttrValue& value) -> std::string {
         const auto& word = std::get<std::string>(value);
         return word.empty() || word == "TND" || word == "same_as_input"
                    ? ""
                    : "it must be empty, TND or same_as_input";
       }},
  };
}

std::vector<TensorSpec> attention_optional_inputs() {
  return {optional_input("real_shift", {DType::fp32, DType::fp16, DType::bf16}, shift_data),
          optional_input("drop_mask", {DType::uint8},
                         [](const Problem&) {
                           return Distribution{DistributionKind::integers, 0, 255};
                         }),
          optional_input("atten_mask", {DType::boolean, DType::uint8},
                         [](const Problem&) {
                           return Distribution{DistributionKind::integers, 0, 1};
                         }),
          optional_input(
              "prefix", kIndexDTypes,
              [](const Problem& problem) { return index_data(1 + attention_of(problem).keys); }),
          optional_input("actual_seq_qlen", kIndexDTypes,
                         [](const Problem& problem) {
                           const std::size_t at = problem.inputs.size() > 12 ? 11 : 7;
                           return totals(problem.inputs[0].shape[0], problem.inputs[at]);
                         }),
          optional_input("actual_seq_kvlen", kIndexDTypes,
                         [](const Problem& problem) {
                           const std::size_t at = problem.inputs.size() > 12 ? 11 : 7;
                           return totals(problem.inputs[1].shape[0], problem.inputs[at]);
                         }),
          optional_input("sink", {DType::fp32}, sink_data)};
}

std::vector<KnownCall> attention_calls(std::string_view cann, std::string_view names,
                                       std::string_view masked, std::string_view inputs,
                                       std::string_view outputs) {
  const KnownCallRules rules{.where = kUnknownOfAttention};
  const KnownCallRules maskless{.where = kUnknownOfMasklessAttention};
  std::vector<KnownCall> calls;
  const auto add = [&](std::string_view of, KnownCallRules with, std::string_view attrs,
                       std::string_view needs) {
    with.attrs = attrs, with.needs = needs;
    calls.push_back({names, of, outputs, with});
  };
  add(masked, rules, kAttentionSources, "scale_value");
  add(masked, rules, kUnscaledAttentionSources, {});
  add(inputs, maskless, kMasklessAttentionSources, "scale_value");
  add(inputs, maskless, kUnscaledMasklessAttentionSources, {});
  calls.push_back(
      {cann, inputs, outputs, {.attrs = kProfiledAttentionSources, .is_profiled_only = true}});
  return calls;
}

LikelyAttrs likely_of_attention(const Dims& query, const Dims& statistics, const Shapes& inputs) {
  constexpr double kBnsd = 0, kBsnd = 1, kBsh = 2, kSbh = 3, kTnd = 4;  // of kAttentionSources
  LikelyAttrs all;
  const auto add = [&](double layout, std::int64_t heads, bool is_causal_at_end) {
    NamedNumbers one{{"input_layout", {layout}}, {"head_num", {double(heads)}}};
    for (const Dims& shape : inputs) {
      if (shape == Dims{3072, 2048}) one["sparse_mode"] = {6};
      if (shape == Dims{2048, 2048}) one["sparse_mode"] = {is_causal_at_end ? 3.0 : 2.0};
    }
    // A mask of exactly the pairs is not compressed.
    if (statistics.size() == 4 && statistics[2] == 2048) one.erase("sparse_mode");
    all.push_back(std::move(one));
  };
  if (statistics.size() == 1) return likely_of_flat_statistics(query, statistics[0], inputs);
  if (statistics.size() == 3 && query.size() == 3) add(kTnd, query[1], true);
  if (statistics.size() != 4) return all;
  const std::int64_t batch = statistics[0], heads = statistics[1], rows = statistics[2];
  if (query.size() == 4) {
    if (query[1] == heads && query[2] == rows) add(kBnsd, heads, false);
    if (query[1] == rows && query[2] == heads) add(kBsnd, heads, false);
  } else if (query.size() == 3) {
    if (query[0] == rows && query[1] == batch) add(kSbh, heads, false);
    if (query[0] == batch && query[1] == rows) add(kBsh, heads, false);
  }
  return all;
}

Distribution attention_query_data(const Problem& problem) {
  const Attention a = attention_of(problem);
  const double most = kMostElement / std::fabs(a.scale) / std::sqrt(double(a.size));
  return {DistributionKind::uniform, -double(float(most)), double(float(most))};
}

Distribution attention_key_data(const Problem&) {
  return {DistributionKind::uniform, -kMostElement, kMostElement};
}

}  // namespace opbench
