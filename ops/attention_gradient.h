#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "ops/attention_reference.h"
#include "ops/term_count.h"
#include "ops/terms.h"
#include "tensor/dtype.h"

namespace opbench {

/// The inputs of flash_attention_score_grad behind query, key and value. That of
/// scaled_dot_product_attention has no sum.
namespace gradient_inputs {
inline constexpr std::size_t kGradient = 3, kGreatest = 4, kSum = 5, kOut = 6, kFirstOptional = 7;
}  // namespace gradient_inputs

/// The tensor of an output; the sink has no rows.
inline HeadTensor tensor_of(const Attention& a, std::size_t output) {
  if (output == 0) return {a.batch, a.heads, a.queries, a.size, a.query};
  if (output == 1) return {a.batch, a.key_heads, a.keys, a.size, a.key};
  if (output == 2) return {a.batch, a.key_heads, a.keys, a.value_size, a.value};
  return {1, a.heads, 1, 1, {0, 1, 0}};
}

/// The share of a pair of a query and a key, and the gradient of its score; or the terms of both.
struct KeyPair {
  double share = 0, slope = 0;
};

/// The gradient of attention in fp64, or its terms.
class GradientReference {
 public:
  GradientReference(const Problem& problem, std::span<const InputReader> inputs, Sum sum)
      : r_(attention_of(problem), inputs),
        dy_(inputs[gradient_inputs::kGradient].read_all()),
        out_(inputs[r_.of().result_input()].read_all()),
        greatest_(inputs[gradient_inputs::kGreatest].read_all()),
        sum_(r_.of().gives_logsumexp ? std::vector<double>(greatest_.size(), 1.0)
                                     : inputs[gradient_inputs::kSum].read_all()),
        weight_(weight_of_rounded_operands(problem, 0)),
        least_(smallest_normal(inputs[0].desc().dtype)),
        has_terms_(sum == Sum::terms) {
    const Attention& a = r_.of();
    // Rows without keys, of which some devices store a maximum of -Inf or a sum of 0.
    for (std::size_t i = 0; i < greatest_.size(); ++i) {
      if (greatest_[i] == -HUGE_VAL || sum_[i] == 0) greatest_[i] = HUGE_VAL, sum_[i] = 1;
    }
    const auto rows = std::size_t(a.batch * a.heads * a.queries);
    delta_.resize(rows);
    bound_.resize(has_terms_ ? rows : 0);
    for_each_query([&](const AttentionSequence& s, std::int64_t head, std::int64_t i) {
      delta_[row_at(s, head, i)] = dot_of(dy(s, head, i), out(s, head, i), a.value_size);
    });
    if (has_terms_) bound_terms();
  }

  void read(std::size_t output, ElementRange range, std::span<double> to) const {
    const auto of_row = [&](const HeadRow& at, std::int64_t first, std::span<double> part) {
      std::fill(part.begin(), part.end(), 0.0);
      if (output == 0) return add_query(at, first, part);
      if (output == 3) return add_sink(at.head, part);
      add_key(output, at, first, part);
    };
    for_each_head_row(tensor_of(r_.of(), output), range, to, of_row);
  }

 private:
  double dot_of(const double* a, const double* b, std::int64_t count) const {
    return has_terms_ ? dot_of_magnitudes(a, b, count) : dot(a, b, count);
  }
  const double* dy(const AttentionSequence& s, std::int64_t head, std::int64_t i) const {
    return dy_.data() + r_.of().out.at(s.batch, head, s.first_query + i);
  }
  const double* out(const AttentionSequence& s, std::int64_t head, std::int64_t i) const {
    return out_.data() + r_.of().out.at(s.batch, head, s.first_query + i);
  }
  std::size_t row_at(const AttentionSequence& s, std::int64_t head, std::int64_t i) const {
    return std::size_t(r_.of().statistics.at(s.batch, head, s.first_query + i) /
                       copies_of(r_.of()));
  }

  template <class Body>
  void for_each_query(Body body) const {
    for (std::int64_t n = 0; n < r_.of().sequences(); ++n) {
      const AttentionSequence s = r_.call().sequence(n);
      for (std::int64_t head = 0; head < r_.of().heads; ++head) {
        for (std::int64_t i = 0; i < s.queries; ++i) body(s, head, i);
      }
    }
  }

  // No score of a query has greater terms than the norm of the query times that of the longest key.
  void bound_terms() {
    const Attention& a = r_.of();
    const auto norm = [&](const double* x) { return std::sqrt(dot(x, x, a.size)); };
    std::int64_t of_sequence = -1, of_head = -1;
    double longest = 0;
    for_each_query([&](const AttentionSequence& s, std::int64_t head, std::int64_t i) {
      if (s.number != of_sequence || head != of_head) {
        of_sequence = s.number, of_head = head, longest = 0;
        for (std::int64_t j = 0; j < s.keys; ++j) {
          longest = std::fmax(longest, norm(r_.key(s, head, j)));
        }
      }
      bound_[row_at(s, head, i)] = std::fabs(a.scale) * norm(r_.query(s, head, i)) * longest;
    });
  }

  // `k`: of the row of scores.
  KeyPair pair(const AttentionSequence& s, std::int64_t head, std::int64_t i, const ScoreRow& row,
               std::size_t k) const {
    const std::size_t at = row_at(s, head, i);
    const std::int64_t j = row.keys.first + std::int64_t(k);
    KeyPair p;
    p.share = std::exp(row.score[k] - greatest_[at * copies()]) / sum_[at * copies()];
    if (p.share == 0) return p;
    const double kept = r_.kept(s, head, i, j);
    const double *const g = dy(s, head, i), *const v = r_.value(s, head, j);
    const std::int64_t size = r_.of().value_size;
    const double product = kept * dot(g, v, size);
    p.slope = p.share * (product - delta_[at]);
    if (has_terms_) {
      const double slope = std::fabs(p.share * (product - dot(g, out(s, head, i), size)));
      const double errors = row.term[k] + bound_[at];
      const double operand = std::fmax(slope + p.share * delta_[at], least_);
      p.slope = p.share * (kept * dot_of_magnitudes(g, v, size) + delta_[at]) + slope * errors +
                weight_ * operand;
      p.share = p.share * (1 + errors) + weight_ * std::fmax(p.share, least_);
    }
    p.share *= kept;
    return p;
  }

  std::size_t copies() const { return std::size_t(copies_of(r_.of())); }
  static void add(double factor, const double* x, std::int64_t first, bool of_magnitudes,
                  std::span<double> to) {
    for (std::size_t d = 0; d < to.size(); ++d) {
      const double value = x[std::size_t(first) + d];
      to[d] += factor * (of_magnitudes ? std::fabs(value) : value);
    }
  }

  double scale() const { return has_terms_ ? std::fabs(r_.of().scale) : r_.of().scale; }

  // dq = scale * sum over keys of dS*K
  void add_query(const HeadRow& at, std::int64_t first, std::span<double> to) const {
    const AttentionSequence* const s = r_.sequence_of_query(at);
    if (s == nullptr) return;
    thread_local ScoreRow row;
    const std::int64_t i = at.row - s->first_query;
    r_.read(*s, at.head, i, r_.of().visible(*s, i), has_terms_, row);
    for (std::size_t k = 0; k < row.score.size(); ++k) {
      const double slope = pair(*s, at.head, i, row, k).slope;
      add(scale() * slope, r_.key(*s, at.head, row.keys.first + std::int64_t(k)), first, has_terms_,
          to);
    }
  }

  // dk = scale * sum over queries of dS*Q, dv = sum of P*dy; over all heads of the query.
  void add_key(std::size_t output, const HeadRow& at, std::int64_t first,
               std::span<double> to) const {
    const AttentionSequence* const s = r_.sequence_of_key(at);
    if (s == nullptr) return;
    thread_local ScoreRow row;
    const std::int64_t j = at.row - s->first_key, group = r_.of().group();
    for (std::int64_t head = at.head * group; head < (at.head + 1) * group; ++head) {
      for (std::int64_t i = 0; i < s->queries; ++i) {
        const KeyRange seen = r_.of().visible(*s, i);
        if (j < seen.first || j >= seen.end) continue;
        r_.read(*s, head, i, {j, j + 1}, has_terms_, row);
        const KeyPair p = pair(*s, head, i, row, 0);
        if (output == 1) {
          add(scale() * p.slope, r_.query(*s, head, i), first, has_terms_, to);
        } else {
          add(p.share, dy(*s, head, i), first, has_terms_, to);
        }
      }
    }
  }

  // dsink = -sum over rows of exp(sink - max)/sum*delta
  void add_sink(std::int64_t of_head, std::span<double> to) const {
    const double sink = *r_.call().sink(of_head);
    for_each_query([&](const AttentionSequence& s, std::int64_t head, std::int64_t i) {
      if (head != of_head) return;
      const std::size_t at = row_at(s, head, i);
      const double greatest = greatest_[at * copies()];
      const double share = std::exp(sink - greatest) / sum_[at * copies()];
      if (share == 0) return;
      const double terms = weight_ + 1 + std::fabs(sink) + std::fabs(greatest);
      to[0] += has_terms_ ? share * delta_[at] * terms : -share * delta_[at];
    });
  }

  AttentionReference r_;
  std::vector<double> dy_, out_, greatest_, sum_;
  double weight_, least_;
  bool has_terms_;
  // The sum of dy*out of a row, and a bound of the terms of its scores.
  std::vector<double> delta_, bound_;
};

/// The gradient of attention, or its terms.
inline Reference attention_gradient(const Problem& problem, std::span<const InputReader> inputs,
                                    Sum sum) {
  return [r = std::make_shared<const GradientReference>(problem, inputs, sum)](
             std::size_t output, ElementRange range, std::span<double> to) {
    r->read(output, range, to);
  };
}

}  // namespace opbench
