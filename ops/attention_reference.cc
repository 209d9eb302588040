#include "ops/attention_reference.h"

namespace opbench {
namespace {

// Several sums at a time, which fit into vectors.
template <class Term>
double sum_of_terms(std::int64_t count, Term term) {
  constexpr int kLanes = 8;
  double lanes[kLanes] = {};
  std::int64_t d = 0;
  for (; d + kLanes <= count; d += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] += term(d + lane);
  }
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  for (; d < count; ++d) sum += term(d);
  return sum;
}

}  // namespace

double dot(const double* a, const double* b, std::int64_t count) {
  return sum_of_terms(count, [&](std::int64_t d) { return a[d] * b[d]; });
}

double dot_of_magnitudes(const double* a, const double* b, std::int64_t count) {
  return sum_of_terms(count, [&](std::int64_t d) { return std::fabs(a[d] * b[d]); });
}

AttentionReference::AttentionReference(const Attention& of, std::span<const InputReader> inputs)
    : of_(of), q_(inputs[0].read_all()), k_(inputs[1].read_all()), v_(inputs[2].read_all()) {
  for (const InputReader& input : inputs) storage_.push_back(input.storage());
  for (std::int64_t n = 0; n < of_.sequences(); ++n) sequences_.push_back(call().sequence(n));
}

const AttentionSequence* AttentionReference::sequence_of_query(const HeadRow& row) const {
  if (!of_.is_packed) return &sequences_[std::size_t(row.batch)];
  for (const AttentionSequence& s : sequences_) {
    if (row.row >= s.first_query && row.row < s.first_query + s.queries) return &s;
  }
  return nullptr;
}

const AttentionSequence* AttentionReference::sequence_of_key(const HeadRow& row) const {
  if (!of_.is_packed) return &sequences_[std::size_t(row.batch)];
  for (const AttentionSequence& s : sequences_) {
    if (row.row >= s.first_key && row.row < s.first_key + s.keys) return &s;
  }
  return nullptr;
}

void AttentionReference::read(const AttentionSequence& s, std::int64_t head, std::int64_t i,
                              KeyRange keys, bool has_terms, ScoreRow& row) const {
  const auto count = std::size_t(keys.count());
  const double scale = of_.scale, *const q = query(s, head, i);
  row.keys = keys;
  row.score.assign(count, 0.0);
  row.term.assign(has_terms ? count : 0, 0.0);
  if (of_.has_shift) call().shift_row(s, head, i, keys, row.score.data());
  const std::uint8_t* const mask = call().mask_row(s, head, i);
  for (std::size_t at = 0; at < count; ++at) {
    const std::int64_t j = keys.first + std::int64_t(at);
    double& score = row.score[at];
    const double factor = of_.shift_type == 1 ? scale : 1;
    if (has_terms) {
      row.term[at] = std::fabs(scale) * dot_of_magnitudes(q, key(s, head, j), of_.size) +
                     std::fabs(factor * score);
    }
    score = factor * score + scale * dot(q, key(s, head, j), of_.size);
    if (mask != nullptr && call().is_hidden(mask[j])) {
      score = -std::numeric_limits<double>::infinity();
    }
  }
}

double AttentionReference::kept(const AttentionSequence& s, std::int64_t head, std::int64_t i,
                                std::int64_t j) const {
  if (!of_.has_drop) return 1;
  return call().keeps(s, head, i, j) ? 1 / double(of_.keep) : 0;
}

}  // namespace opbench
