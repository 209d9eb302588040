#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "ops/attention.h"

namespace opbench {

/// A row of a head: of a query, or of a key.
struct HeadRow {
  std::int64_t batch, head, row;
};

/// The sum of products in fp64.
double dot(const double* a, const double* b, std::int64_t count);
/// The sum of their magnitudes.
double dot_of_magnitudes(const double* a, const double* b, std::int64_t count);

/// The scores of a query, in fp64: -Inf for hidden keys. `term`: the sum of the magnitudes of the
/// terms of a score.
struct ScoreRow {
  KeyRange keys{0, 0};
  std::vector<double> score, term;
};

/// Rows of all heads of all sequences in fp64, one after the other.
struct GatheredRows {
  std::int64_t size = 0;
  std::vector<std::int64_t> first;  ///< rows before those of a sequence
  std::vector<double> elements;

  /// Row `i` of a head, of which the sequence has `count`.
  const double* row(const AttentionSequence& s, std::int64_t count, std::int64_t head,
                    std::int64_t i) const {
    return elements.data() + (first[std::size_t(s.number)] + head * count + i) * size;
  }
};

/// The inputs of an attention in fp64.
class AttentionReference {
 public:
  /// `weight`: of operands that are rounded to the dtype (ops/term_count.h), as are keys and values
  /// of int8 after the product with their scales.
  AttentionReference(const Attention& of, std::span<const InputReader> inputs, double weight = 0);

  const Attention& of() const { return of_; }
  const AttentionCall& call() const { return call_; }
  /// The sequence of a query or key, or null for rows of no sequence.
  const AttentionSequence* sequence_of_query(const HeadRow& row) const;
  const AttentionSequence* sequence_of_key(const HeadRow& row) const;
  const double* query(const AttentionSequence& s, std::int64_t head, std::int64_t i) const {
    return q_.row(s, s.queries, head, i);
  }
  /// Rows of the head of the key that a head of the query has.
  const double* key(const AttentionSequence& s, std::int64_t head, std::int64_t j) const {
    return k_.row(s, s.keys, head / of_.group(), j);
  }
  const double* value(const AttentionSequence& s, std::int64_t head, std::int64_t j) const {
    return v_.row(s, s.keys, head / of_.group(), j);
  }
  /// The scores of query `i` and `keys`, with terms if `has_terms`.
  void read(const AttentionSequence& s, std::int64_t head, std::int64_t i, KeyRange keys,
            bool has_terms, ScoreRow& row) const;
  /// The factor of dropout for a share.
  double kept(const AttentionSequence& s, std::int64_t head, std::int64_t i, std::int64_t j) const;
  /// The terms of a rounded key or value of int8, per unit of its magnitude.
  double weight_of_scaled() const { return of_.is_quantised ? weight_ : 0; }

 private:
  void gather_keys(std::span<const InputReader> inputs);

  Attention of_;
  double weight_;
  std::vector<const void*> storage_;
  AttentionCall call_;
  GatheredRows q_, k_, v_;
};

/// Calls of_row(row, first, to) for the rows of a tensor that `range` cuts: elements of the row
/// from `first` on.
template <class OfRow>
void for_each_head_row(const HeadTensor& tensor, ElementRange range, std::span<double> to,
                       OfRow of_row) {
  for (std::int64_t done = 0; done < range.count;) {
    const std::int64_t element = range.first + done, first = element % tensor.size;
    const std::int64_t count = std::min(tensor.size - first, range.count - done);
    // An axis with one place may have any distance.
    const auto index = [&](std::int64_t distance, std::int64_t extent) {
      return extent == 1 ? 0 : element / distance % extent;
    };
    const HeadRow row{index(tensor.places.batch, tensor.batches),
                      index(tensor.places.head, tensor.heads),
                      index(tensor.places.row, tensor.rows)};
    of_row(row, first, to.subspan(std::size_t(done), std::size_t(count)));
    done += count;
  }
}

/// Copies of each statistic in memory.
inline std::int64_t copies_of(const Attention& a) {
  return a.gives_logsumexp ? 1 : kStatisticCopies;
}

/// The outputs of an attention: the result, and the statistics of its rows.
Reference attention_values(const Attention& of, std::span<const InputReader> inputs);
Terms attention_terms(const Problem& problem, std::span<const InputReader> inputs);

}  // namespace opbench
