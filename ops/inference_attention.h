#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ops/op.h"
#include "ops/terms.h"

namespace opbench {

/// The lines of a tensor [outer, head, row] or [outer, row, head]: steps in lines.
struct HeadLines {
  std::int64_t outer = 0, head = 0, row = 0;

  std::int64_t at(std::int64_t of_outer, std::int64_t of_head, std::int64_t of_row) const {
    return of_outer * outer + of_head * head + of_row * row;
  }
};

/// The place of one row of queries, or of a range of outputs.
struct QueryRow {
  std::int64_t batch, head, row;
};

/// The queries and keys of one sequence: rows of their tensors from the first on.
struct SequenceRows {
  std::int64_t first_query = 0, queries = 0;
  std::int64_t first_key = 0, keys = 0;
};

/// A use of fused_infer_attention_score: layouts, sizes and the mask.
struct InferenceAttention {
  enum Input : std::size_t {
    kQuery,
    kKey,
    kValue,
    kMask,
    kQueryLengths,
    kKeyLengths,
    kBlockTable,
    kQueryRope,
    kKeyRope,
    kKeyScale,
    kValueScale
  };

  std::int64_t batch = 0, heads = 0, key_heads = 0;
  std::int64_t width = 0, value_width = 0, rope_width = 0;  ///< elements of a head
  std::int64_t most_queries = 0;  ///< of a sequence; with packed sequences, of all
  std::int64_t most_keys = 0;
  std::int64_t block_size = 0, most_blocks = 0, blocks = 0;  ///< 0: keys are not paged
  bool is_packed = false;  ///< layout TND: lengths are running totals
  HeadLines query, key;    ///< the output is like the query, values and parts for rope like these
  HeadLines lse;
  double scale = 1;
  std::int64_t mode = 0, before = 0, after = 0;  ///< sparse_mode, pre_tokens, next_tokens
  std::int64_t mask_width = 0, mask_batch = 0;   ///< elements; mask_width 0: no mask
  bool is_quantised = false;                     ///< keys and values are int8
  /// Elements of the scales from sequence to sequence, if each key has a scale; 0: each channel.
  std::int64_t scale_batch = 0;

  /// Errors: throws Error that names the input or attribute and what is allowed.
  InferenceAttention(std::span<const TensorDesc> inputs, const Attrs& attrs);

  std::int64_t group() const { return heads / key_heads; }
  /// Decoding with one query ignores sparse_mode.
  bool is_banded() const { return mode >= 2 && (most_queries > 1 || rope_width > 0); }

  /// The sequence of `b`; `query_length(i)` and `key_length(i)` are elements of the given lengths.
  template <class QueryLength, class KeyLength>
  SequenceRows sequence(std::int64_t b, bool has_query_lengths, const QueryLength& query_length,
                        bool has_key_lengths, const KeyLength& key_length) const {
    SequenceRows of{0, most_queries, 0, most_keys};
    const auto total = [b](const auto& length, std::int64_t& first, std::int64_t& count) {
      first = b == 0 ? 0 : length(b - 1);
      count = length(b) - first;
    };
    if (is_packed) {
      total(query_length, of.first_query, of.queries);
      total(key_length, of.first_key, of.keys);
      if (block_size > 0) of.first_key = 0;
      return of;
    }
    if (has_query_lengths) of.queries = query_length(b);
    if (has_key_lengths) of.keys = key_length(b);
    return of;
  }

  /// The visible keys of a row by sparse_mode, without the mask: [first, end).
  struct Band {
    std::int64_t first, end;
  };
  Band band(const SequenceRows& of, std::int64_t row) const;

  /// The scale of element `i` of a key or value.
  std::int64_t scale_at(std::int64_t b, std::int64_t key_head, std::int64_t of_width,
                        std::int64_t of_key, std::int64_t i) const {
    return scale_batch > 0 ? b * scale_batch + of_key : key_head * of_width + i;
  }

  /// The row of output line `line`, and the batch of a packed token by `first_of` each batch.
  QueryRow row_of_line(const HeadLines& lines, std::int64_t line) const;

 private:
  void set_scales(std::span<const TensorDesc> inputs, const Attrs& attrs);
};

/// Likely layouts and heads of a row of a profile.
LikelyAttrs likely_inference_attention(const Shapes& inputs, const Shapes& outputs);

/// The elements of index input `i`; empty if it is not given.
std::vector<std::int64_t> inference_lengths(std::span<const InputReader> inputs, std::size_t i);

std::vector<SequenceRows> inference_sequences(const InferenceAttention& of,
                                              std::span<const InputReader> inputs);

/// The reference, or the terms of each element. `weight`: of operands that are rounded to the dtype
/// (ops/term_count.h).
Reference inference_attention(std::span<const InputReader> inputs, const Attrs& attrs, Sum sum,
                              double weight = 0);

}  // namespace opbench
