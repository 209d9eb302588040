// Attention of training: softmax(scale*Q*K^T + shift)*V for each head, with the statistics of its
// rows.
#include <algorithm>
#include <cmath>
#include <memory>

#include "ops/attention_reference.h"
#include "ops/elementwise.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "ops/term_count.h"
#include "ops/terms.h"

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
  if (a.is_packed) {
    const bool by_rows = !attrs.word("softmax_layout").empty();
    rows = by_rows ? Dims{a.queries, a.heads, kStatisticCopies}
                   : Dims{a.heads, a.queries, kStatisticCopies};
  }
  const TensorDesc statistics = describe(DType::fp32, rows);
  return {with_shape(inputs[0], out), statistics, statistics};
}

/// The shares of the keys of a query, in `row.score`.
struct Shares {
  ScoreRow row;
  double greatest = kHiddenMax, sum = kHiddenSum;
  double term_of_greatest = 0, term_of_sum = 0;
  double mean_term = 0;  ///< the mean of the terms, weighted with the shares
};

// A row without visible keys has shares of 0.
void read_shares(const AttentionReference& r, const AttentionSequence& s, const HeadRow& at,
                 bool has_terms, Shares& to) {
  const std::int64_t i = at.row - s.first_query;
  to = Shares{.row = std::move(to.row)};
  r.read(s, at.head, i, r.of().visible(s, i), has_terms, to.row);
  std::vector<double>& share = to.row.score;
  const auto first = std::max_element(share.begin(), share.end());
  double greatest = first == share.end() ? -HUGE_VAL : *first;
  if (has_terms && first != share.end()) {
    to.term_of_greatest = to.row.term[std::size_t(first - share.begin())];
  }
  const std::optional<float> sink = r.call().sink(at.head);
  if (sink && double(*sink) >= greatest) greatest = *sink, to.term_of_greatest = 0;
  if (greatest == -HUGE_VAL) return std::fill(share.begin(), share.end(), 0.0);
  to.greatest = greatest;
  to.sum = sink ? std::exp(double(*sink) - greatest) : 0;
  for (double& x : share) to.sum += x = std::exp(x - greatest);
  for (std::size_t j = 0; j < to.row.term.size(); ++j) {
    to.term_of_sum += share[j] * (1 + to.row.term[j]);
    to.mean_term += share[j] / to.sum * to.row.term[j];
  }
  if (sink) to.term_of_sum += std::exp(double(*sink) - greatest) * (1 + std::fabs(double(*sink)));
  for (double& x : share) x /= to.sum;
}

HeadTensor out_of(const Attention& a) { return {a.batch, a.heads, a.queries, a.value_size, a.out}; }
HeadTensor statistics_of(const Attention& a) {
  return {a.batch, a.heads, a.queries, kStatisticCopies, a.statistics};
}

// The sum over keys of `factor(j)` times the value. `key` counts from the first visible key.
template <class Factor>
void sum_values(const AttentionReference& r, const AttentionSequence& s, const HeadRow& at,
                const ScoreRow& row, bool of_magnitudes, std::int64_t first, std::span<double> to,
                Factor factor) {
  std::fill(to.begin(), to.end(), 0.0);
  for (std::int64_t k = 0; k < row.keys.count(); ++k) {
    const double weight = factor(std::size_t(k));
    if (weight == 0) continue;
    const double kept = r.kept(s, at.head, at.row - s.first_query, row.keys.first + k);
    const double* const v = r.value(s, at.head, row.keys.first + k) + first;
    for (std::size_t d = 0; d < to.size(); ++d) {
      to[d] += weight * kept * (of_magnitudes ? std::fabs(v[d]) : v[d]);
    }
  }
}

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const auto r = std::make_shared<const AttentionReference>(
      attention_of(kName, descs_of(inputs), attrs, kFirstOptional), inputs);
  return [r](std::size_t output, ElementRange range, std::span<double> to) {
    thread_local Shares shares;
    const HeadTensor tensor = output == 0 ? out_of(r->of()) : statistics_of(r->of());
    for_each_head_row(tensor, range, to,
                      [&](const HeadRow& at, std::int64_t first, std::span<double> part) {
                        const AttentionSequence* const s = r->sequence_of_query(at);
                        if (s == nullptr) {
                          const double hidden = output == 1 ? kHiddenMax : kHiddenSum;
                          return std::fill(part.begin(), part.end(), output == 0 ? 0 : hidden);
                        }
                        read_shares(*r, *s, at, false, shares);
                        if (output > 0) {
                          const double number = output == 1 ? shares.greatest : shares.sum;
                          return std::fill(part.begin(), part.end(), number);
                        }
                        sum_values(*r, *s, at, shares.row, false, first, part,
                                   [&](std::size_t k) { return shares.row.score[k]; });
                      });
  };
}

// The rounding of a score is relative to its terms, and changes its share by as much as itself.
// Shares are operands of the second product, rounded to the dtype; those of fp16 lose bits below
// its smallest normal number.
Terms terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Problem problem = make_problem(find_op(kName), descs_of(inputs), attrs);
  const double weight = weight_of_rounded_operands(problem, 0),
               least = smallest_normal(inputs[0].desc().dtype);
  const auto r = std::make_shared<const AttentionReference>(
      attention_of(kName, problem.inputs, attrs, kFirstOptional), inputs);
  return {.magnitude = [r, weight, least](std::size_t output, ElementRange range,
                                          std::span<double> to) {
    thread_local Shares shares;
    const HeadTensor tensor = output == 0 ? out_of(r->of()) : statistics_of(r->of());
    for_each_head_row(
        tensor, range, to, [&](const HeadRow& at, std::int64_t first, std::span<double> part) {
          std::fill(part.begin(), part.end(), 0.0);
          const AttentionSequence* const s = r->sequence_of_query(at);
          if (s == nullptr) return;
          read_shares(*r, *s, at, true, shares);
          if (output > 0) {
            const double number = output == 1 ? shares.term_of_greatest : shares.term_of_sum;
            return std::fill(part.begin(), part.end(), number);
          }
          const std::vector<double>&p = shares.row.score, &term = shares.row.term;
          sum_values(*r, *s, at, shares.row, true, first, part, [&](std::size_t k) {
            const double operand = shares.sum == kHiddenSum ? 0 : std::fmax(p[k], least);
            return p[k] * (1 + term[k] + shares.mean_term) + weight * operand;
          });
        });
  }};
}

Traffic traffic(const Problem& problem) {
  const Attention a = attention_of(kName, problem.inputs, problem.attrs, kFirstOptional);
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
constexpr std::string_view kResults =
    "attention_out|result0|result, softmax_max|result1, softmax_sum|result2";

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "FlashAttentionScore",
    .summary = "out = softmax(scale*Q*K^T + shift)*V by heads, without hidden pairs; maximum and "
               "sum of the exponentials of each row",
    .source = "CANN FlashAttentionScore; torch_npu npu_fusion_attention; Dao 2022, "
              "arXiv:2205.14135",
    .known_as = {.calls = {{kCalls,
                            kRecorded,
                            kResults,
                            {.attrs = kAttentionSources, .needs = "scale_value"}},
                           {kCalls, kRecorded, kResults, {.attrs = kUnscaledAttentionSources}},
                           {"FlashAttentionScore",
                            kRecorded,
                            kResults,
                            {.attrs = kProfiledAttentionSources, .is_profiled_only = true}}},
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
