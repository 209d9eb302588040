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

std::vector<const void*> storage_of(std::span<const InputReader> inputs) {
  std::vector<const void*> storage;
  for (const InputReader& input : inputs) storage.push_back(input.storage());
  return storage;
}

// Rows of `heads` heads of sequences with `count(sequence)` rows each; read(sequence, head, to)
// reads those of a head.
template <class Count, class Read>
GatheredRows gather(const AttentionCall& call, std::int64_t heads, std::int64_t size, Count count,
                    Read read) {
  GatheredRows rows{size, {}, {}};
  std::int64_t total = 0;
  for (const AttentionSequence& s : call.sequences()) {
    rows.first.push_back(total);
    total += heads * count(s);
  }
  rows.elements.resize(std::size_t(total * size));
  double* to = rows.elements.data();
  for (const AttentionSequence& s : call.sequences()) {
    for (std::int64_t head = 0; head < heads; ++head, to += count(s) * size) read(s, head, to);
  }
  return rows;
}

}  // namespace

double dot(const double* a, const double* b, std::int64_t count) {
  return sum_of_terms(count, [&](std::int64_t d) { return a[d] * b[d]; });
}

double dot_of_magnitudes(const double* a, const double* b, std::int64_t count) {
  return sum_of_terms(count, [&](std::int64_t d) { return std::fabs(a[d] * b[d]); });
}

AttentionReference::AttentionReference(const Attention& of, std::span<const InputReader> inputs,
                                       double weight)
    : of_(of), weight_(weight), storage_(storage_of(inputs)), call_(of_, storage_) {
  const auto count = [](const AttentionSequence& s) { return s.queries; };
  q_ = gather(
      call_, of.heads, of.width(), count,
      [&](const AttentionSequence& s, std::int64_t head, double* to) {
        for (std::int64_t i = s.first_query; i < s.first_query + s.queries; ++i) {
          inputs[0].read({of.query.at(s.batch, head, i), of.size}, {to, std::size_t(of.size)});
          to += of.size;
          if (of.rope_size == 0) continue;
          inputs[of.places.query_rope].read({of.query_rope.at(s.batch, head, i), of.rope_size},
                                            {to, std::size_t(of.rope_size)});
          to += of.rope_size;
        }
      });
  gather_keys(inputs);
}

void AttentionReference::gather_keys(std::span<const InputReader> inputs) {
  const auto count = [](const AttentionSequence& s) { return s.keys; };
  // Reads one part of all keys or values of a head, `step` elements apart.
  const auto read_part = [&](const AttentionSequence& s, std::int64_t head, std::size_t input,
                             const HeadRows& places, std::int64_t size,
                             const std::vector<double>& scales, std::int64_t step, double* to) {
    call_.for_each_run(s, {0, s.keys}, [&](const KeyRun& run) {
      for (std::int64_t k = 0; k < run.count; ++k, to += step) {
        inputs[input].read({places.at(run.batch, head, run.row + k), size},
                           {to, std::size_t(size)});
        for (std::int64_t i = 0; !scales.empty() && i < size; ++i) {
          to[i] *= scales[std::size_t(of_.scale_at(s, head, size, run.key + k, i))];
        }
      }
    });
  };
  const auto scales_of = [&](std::size_t input) {
    return of_.is_quantised ? inputs[input].read_all() : std::vector<double>{};
  };
  const std::vector<double> none, of_keys = scales_of(of_.places.key_scale),
                                  of_values = scales_of(of_.places.value_scale);
  k_ = gather(call_, of_.key_heads, of_.width(), count,
              [&](const AttentionSequence& s, std::int64_t head, double* to) {
                read_part(s, head, 1, of_.key, of_.size, of_keys, of_.width(), to);
                if (of_.rope_size == 0) return;
                read_part(s, head, of_.places.key_rope, of_.key_rope, of_.rope_size, none,
                          of_.width(), to + of_.size);
              });
  v_ = gather(call_, of_.key_heads, of_.value_size, count,
              [&](const AttentionSequence& s, std::int64_t head, double* to) {
                read_part(s, head, 2, of_.value, of_.value_size, of_values, of_.value_size, to);
              });
}

const AttentionSequence* AttentionReference::sequence_of_query(const HeadRow& row) const {
  for (const AttentionSequence& s : call_.sequences()) {
    const bool is_in = row.row >= s.first_query && row.row < s.first_query + s.queries;
    if (row.batch == s.batch && is_in) return &s;
  }
  return nullptr;
}

const AttentionSequence* AttentionReference::sequence_of_key(const HeadRow& row) const {
  for (const AttentionSequence& s : call_.sequences()) {
    const bool is_in = row.row >= s.first_key && row.row < s.first_key + s.keys;
    if (row.batch == s.batch && is_in) return &s;
  }
  return nullptr;
}

void AttentionReference::read(const AttentionSequence& s, std::int64_t head, std::int64_t i,
                              KeyRange keys, bool has_terms, ScoreRow& row) const {
  const auto count = std::size_t(keys.count());
  const double scale = of_.scale, *const q = query(s, head, i);
  const std::int64_t width = of_.width();
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
      double terms = dot_of_magnitudes(q, key(s, head, j), width);
      if (of_.is_quantised) terms += weight_ * dot_of_magnitudes(q, key(s, head, j), of_.size);
      row.term[at] = std::fabs(scale) * terms + std::fabs(factor * score);
    }
    score = factor * score + scale * dot(q, key(s, head, j), width);
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
