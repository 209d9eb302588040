// The reference of fused_infer_attention_score, row of queries by row.
#include <algorithm>
#include <cmath>

#include "ops/inference_attention.h"
#include "tensor/dtype.h"

namespace opbench {
namespace {

using Of = InferenceAttention;

/// The reference, row of queries by row.
struct Rows {
  Of of;
  std::vector<InputReader> inputs;
  std::vector<SequenceRows> sequences;
  std::vector<std::int64_t> table;
  std::vector<double> key_scales, value_scales;
  Sum sum;
  double weight, least;  // of operands that are rounded to the dtype

  Rows(std::span<const InputReader> readers, const Attrs& attrs, Sum which, double of_rounded)
      : of(descs_of(readers), attrs),
        inputs(readers.begin(), readers.end()),
        sequences(inference_sequences(of, readers)),
        table(inference_lengths(readers, Of::kBlockTable)),
        sum(which),
        weight(of_rounded),
        least(smallest_normal(readers[Of::kQuery].desc().dtype)) {
    if (!of.is_quantised) return;
    key_scales = readers[Of::kKeyScale].read_all();
    value_scales = readers[Of::kValueScale].read_all();
  }

  const SequenceRows& sequence(std::int64_t b) const {
    return sequences[static_cast<std::size_t>(b)];
  }

  std::vector<double> line(std::size_t input, std::int64_t line, std::int64_t width) const {
    std::vector<double> values(static_cast<std::size_t>(width));
    inputs[input].read({line * width, width}, values);
    return values;
  }

  std::int64_t key_line(const QueryRow& row, std::int64_t key) const {
    const std::int64_t head = row.head / of.group(), b = row.batch;
    if (of.block_size == 0) {
      return of.key.at(of.is_packed ? 0 : b, head, sequence(b).first_key + key);
    }
    const std::int64_t block =
        table[static_cast<std::size_t>(b * of.most_blocks + key / of.block_size)];
    return of.key.at(block, head, key % of.block_size);
  }

  // Elements of a key or value from `first` on, times their scales.
  void dequantise(const std::vector<double>& scales, const QueryRow& row, std::int64_t key,
                  std::int64_t width, std::int64_t first, std::span<double> values) const {
    if (!of.is_quantised) return;
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] *= scales[static_cast<std::size_t>(of.scale_at(
          row.batch, row.head / of.group(), width, key, first + static_cast<std::int64_t>(i)))];
    }
  }

  // Keys and values of int8 are rounded after the product with their scales.
  double weight_of_dequantised() const { return of.is_quantised ? weight : 0; }

  bool is_hidden(const QueryRow& row, std::int64_t key) const {
    if (of.mask_width == 0) return false;
    double hidden = 0;
    inputs[Of::kMask].read({row.batch * of.mask_batch + row.row * of.mask_width + key, 1},
                           {&hidden, 1});
    return hidden != 0;
  }

  static double product(const std::vector<double>& a, const std::vector<double>& b, Sum sum) {
    double result = 0;
    for (std::size_t i = 0; i < a.size(); ++i) result += summand(sum, a[i] * b[i]);
    return result;
  }

  /// The visible keys with their scores, and the magnitudes of the scores' terms.
  struct Scores {
    std::vector<std::int64_t> keys, lines;
    std::vector<double> values, terms;
    double greatest = -HUGE_VAL, total = 0;

    double lse() const { return lines.empty() ? HUGE_VAL : greatest + std::log(total); }
  };

  // Scores become shares.
  Scores shares(const QueryRow& row) const {
    Scores scores;
    const SequenceRows& rows = sequence(row.batch);
    if (row.row >= rows.queries) return scores;
    const std::int64_t at =
        of.query.at(of.is_packed ? 0 : row.batch, row.head, rows.first_query + row.row);
    const std::vector<double> query = line(Of::kQuery, at, of.width);
    const std::vector<double> rope =
        of.rope_width > 0 ? line(Of::kQueryRope, at, of.rope_width) : std::vector<double>{};
    const auto [first, end] = of.band(rows, row.row);
    for (std::int64_t key = first; key < end; ++key) {
      if (is_hidden(row, key)) continue;
      scores.keys.push_back(key);
      scores.lines.push_back(key_line(row, key));
      std::vector<double> values = line(Of::kKey, scores.lines.back(), of.width);
      dequantise(key_scales, row, key, of.width, 0, values);
      double score = product(query, values, Sum::values), terms = 0;
      if (sum == Sum::terms) {
        terms = (1 + weight_of_dequantised()) * product(query, values, Sum::terms);
      }
      if (of.rope_width > 0) {
        const std::vector<double> turned = line(Of::kKeyRope, scores.lines.back(), of.rope_width);
        score += product(rope, turned, Sum::values);
        if (sum == Sum::terms) terms += product(rope, turned, Sum::terms);
      }
      scores.values.push_back(score * of.scale);
      scores.terms.push_back(std::fabs(of.scale) * terms);
      scores.greatest = std::fmax(scores.greatest, scores.values.back());
    }
    for (double& value : scores.values) {
      scores.total += value = std::exp(value - scores.greatest);
    }
    return scores;
  }

  // Each share has the rounding errors of its score, and those of all shares in their sum.
  void out(const QueryRow& row, std::int64_t first, std::span<double> to) const {
    std::fill(to.begin(), to.end(), 0.0);
    const Scores scores = shares(row);
    double errors = 0;
    for (std::size_t k = 0; k < scores.values.size(); ++k) {
      errors += scores.values[k] / scores.total * scores.terms[k];
    }
    std::vector<double> value(to.size());
    for (std::size_t k = 0; k < scores.values.size(); ++k) {
      const double share = scores.values[k] / scores.total;
      const double rounded = weight * std::fmax(share, least) + weight_of_dequantised() * share;
      const double times =
          sum == Sum::terms ? share * (1 + scores.terms[k] + errors) + rounded : share;
      inputs[Of::kValue].read({scores.lines[k] * of.value_width + first, std::ssize(to)}, value);
      dequantise(value_scales, row, scores.keys[k], of.value_width, first, value);
      for (std::size_t i = 0; i < to.size(); ++i) to[i] += times * summand(sum, value[i]);
    }
  }

  double lse(const QueryRow& row) const {
    const Scores scores = shares(row);
    if (sum == Sum::values || scores.lines.empty()) return scores.lse();
    return 1 + *std::max_element(scores.terms.begin(), scores.terms.end());
  }

  QueryRow row_of(const HeadLines& lines, std::int64_t line) const {
    QueryRow row = of.row_of_line(lines, line);
    if (!of.is_packed) return row;
    while (row.batch + 1 < of.batch &&
           row.row >= sequence(row.batch).first_query + sequence(row.batch).queries) {
      ++row.batch;
    }
    row.row -= sequence(row.batch).first_query;
    return row;
  }

  void operator()(std::size_t output, ElementRange range, std::span<double> to) const {
    const std::int64_t width = output == 0 ? of.value_width : 1;
    for (std::int64_t done = 0; done < range.count;) {
      const std::int64_t at = range.first + done, first = at % width;
      const std::int64_t count = std::min(width - first, range.count - done);
      const QueryRow row = row_of(output == 0 ? of.query : of.lse, at / width);
      const std::span<double> part =
          to.subspan(static_cast<std::size_t>(done), static_cast<std::size_t>(count));
      if (output == 0) {
        out(row, first, part);
      } else {
        part[0] = lse(row);
      }
      done += count;
    }
  }
};

}  // namespace

std::vector<std::int64_t> inference_lengths(std::span<const InputReader> inputs, std::size_t i) {
  return is_given(inputs, i) ? inputs[i].read_index() : std::vector<std::int64_t>{};
}

std::vector<SequenceRows> inference_sequences(const InferenceAttention& of,
                                              std::span<const InputReader> inputs) {
  const std::vector<std::int64_t> queries = inference_lengths(inputs, Of::kQueryLengths),
                                  keys = inference_lengths(inputs, Of::kKeyLengths);
  const auto number = [](const std::vector<std::int64_t>& all) {
    return [&all](std::int64_t i) { return all[static_cast<std::size_t>(i)]; };
  };
  std::vector<SequenceRows> sequences;
  for (std::int64_t b = 0; b < of.batch; ++b) {
    sequences.push_back(
        of.sequence(b, !queries.empty(), number(queries), !keys.empty(), number(keys)));
  }
  return sequences;
}

Reference inference_attention(std::span<const InputReader> inputs, const Attrs& attrs, Sum sum,
                              double weight) {
  return Rows(inputs, attrs, sum, weight);
}

}  // namespace opbench
