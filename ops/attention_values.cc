// The result of attention in fp64, and its terms.
#include <algorithm>
#include <cmath>
#include <memory>

#include "ops/attention_reference.h"
#include "ops/term_count.h"
#include "ops/terms.h"
#include "tensor/dtype.h"

namespace opbench {
namespace {

/// The shares of the keys of a query, in `row.score`.
struct Shares {
  ScoreRow row;
  double greatest = kHiddenMax, sum = kHiddenSum;
  double term_of_greatest = 0, term_of_sum = 0;
  double mean_term = 0;      ///< the mean of the terms, weighted with the shares
  double greatest_term = 0;  ///< of visible keys
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
    if (share[j] > 0) to.greatest_term = std::fmax(to.greatest_term, to.row.term[j]);
  }
  if (sink) to.term_of_sum += std::exp(double(*sink) - greatest) * (1 + std::fabs(double(*sink)));
  for (double& x : share) x /= to.sum;
}

HeadTensor out_of(const Attention& a) { return {a.batch, a.heads, a.queries, a.value_size, a.out}; }
HeadTensor statistics_of(const Attention& a) {
  return {a.batch, a.heads, a.queries, copies_of(a), a.statistics};
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

// Output 1 or 2: the maximum and the sum, or the logarithm of the sum of exponentials, which is Inf
// for a row without visible keys.
double statistic_of(const Attention& a, const Shares& shares, std::size_t output) {
  if (output == 2) return shares.sum;
  if (!a.gives_logsumexp) return shares.greatest;
  return shares.sum == kHiddenSum ? HUGE_VAL : shares.greatest + std::log(shares.sum);
}
double term_of_statistic(const Attention& a, const Shares& shares, std::size_t output) {
  if (output == 2) return shares.term_of_sum;
  if (!a.gives_logsumexp) return shares.term_of_greatest;
  return 1 + shares.greatest_term;
}

}  // namespace

Reference attention_values(const Attention& of, std::span<const InputReader> inputs) {
  const auto r = std::make_shared<const AttentionReference>(of, inputs);
  return [r](std::size_t output, ElementRange range, std::span<double> to) {
    thread_local Shares shares;
    const HeadTensor tensor = output == 0 ? out_of(r->of()) : statistics_of(r->of());
    for_each_head_row(
        tensor, range, to, [&](const HeadRow& at, std::int64_t first, std::span<double> part) {
          const AttentionSequence* const s = r->sequence_of_query(at);
          if (s == nullptr) {
            const double hidden = output == 0 ? 0 : statistic_of(r->of(), Shares(), output);
            return std::fill(part.begin(), part.end(), hidden);
          }
          read_shares(*r, *s, at, false, shares);
          if (output > 0) {
            return std::fill(part.begin(), part.end(), statistic_of(r->of(), shares, output));
          }
          sum_values(*r, *s, at, shares.row, false, first, part,
                     [&](std::size_t k) { return shares.row.score[k]; });
        });
  };
}

// The rounding of a score is relative to its terms, and changes its share by as much as itself.
// Shares are operands of the second product, rounded to the dtype; those of fp16 lose bits below
// its smallest normal number. Keys and values of int8 are rounded after the product with their
// scales.
Terms attention_terms(const Problem& problem, std::span<const InputReader> inputs) {
  const double weight = weight_of_rounded_operands(problem, 0),
               least = smallest_normal(inputs[0].desc().dtype);
  const auto r = std::make_shared<const AttentionReference>(attention_of(problem), inputs, weight);
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
            return std::fill(part.begin(), part.end(), term_of_statistic(r->of(), shares, output));
          }
          const std::vector<double>&p = shares.row.score, &term = shares.row.term;
          sum_values(*r, *s, at, shares.row, true, first, part, [&](std::size_t k) {
            const double operand = p[k] == 0 ? 0 : std::fmax(p[k], least);
            return p[k] * (1 + term[k] + shares.mean_term + r->weight_of_scaled()) +
                   weight * operand;
          });
        });
  }};
}

}  // namespace opbench
