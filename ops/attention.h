#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ops/op.h"

namespace opbench {

/// softmax_max and softmax_sum have this many copies of each number.
inline constexpr std::int64_t kStatisticCopies = 8;

/// Numbers of a row without visible keys, in fp32: its maximum and its sum.
inline constexpr float kHiddenMax = -3.40282347e+38F, kHiddenSum = 3.40282347e+38F;

/// Distances of batches, heads and rows of a tensor, in elements.
struct HeadRows {
  std::int64_t batch = 0, head = 0, row = 0;

  std::int64_t at(std::int64_t b, std::int64_t h, std::int64_t r) const {
    return b * batch + h * head + r * row;
  }
};

/// The places of the optional inputs among those of an operator.
struct AttentionInputs {
  std::size_t shift = 0, drop = 0, mask = 0, prefix = 0, query_ends = 0, key_ends = 0, sink = 0;
  std::size_t table = 0, query_rope = 0, key_rope = 0, key_scale = 0, value_scale = 0;

  /// Consecutive inputs from `first` on.
  static constexpr AttentionInputs from(std::size_t first) {
    return {first, first + 1, first + 2, first + 3, first + 4, first + 5, first + 6, 0, 0, 0, 0, 0};
  }
};

/// Pairs of a query and a key that are visible without a mask.
enum class Visibility { all, band, left_up, right_down, prefix };

/// One sequence: its rows in the tensors, and the first of its bits in drop_mask. Sequences of the
/// layout TND follow each other in one batch.
struct AttentionSequence {
  std::int64_t batch = 0, number = 0;
  std::int64_t first_query = 0, queries = 0, first_key = 0, keys = 0;
  std::int64_t first_bit = 0, prefix = 0;
  Visibility visibility = Visibility::all;
};

/// Keys [first, end).
struct KeyRange {
  std::int64_t first, end;

  std::int64_t count() const { return end - first; }
};

/// Keys of a sequence that follow each other in a head: key `key` is row `row` of batch or page
/// `batch`.
struct KeyRun {
  std::int64_t key, batch, row, count;
};

/// The extents and rules of an attention. O = softmax(scale*Q*K^T + shift)*V for each head; query
/// head n has key head n/group.
struct Attention {
  std::int64_t batch = 0, heads = 0, key_heads = 0;
  std::int64_t queries = 0, keys = 0;  ///< of a sequence; all tokens in TND, except in pages
  std::int64_t size = 0, value_size = 0;
  bool is_packed = false;  ///< TND
  HeadRows query, key, value, out;
  HeadRows statistics;  ///< of softmax_max and softmax_sum, with their copies
  double scale = 1;
  float keep = 1;
  std::int64_t mode = 0, before = 0, after = 0;  ///< sparse_mode, pre_tokens, next_tokens
  std::int64_t shift_type = 1;                   ///< pse_type
  AttentionInputs places = AttentionInputs::from(3);
  /// One logarithm of the sum of exponentials for each row instead of a maximum and a sum.
  bool gives_logsumexp = false;
  bool gives_statistics = true;
  bool mask_shows = false;  ///< a true mask shows a pair, as in PyTorch; else it hides it
  bool has_mask = false, has_drop = false, has_shift = false, has_sink = false, has_prefix = false;
  DType shift_dtype = DType::fp32;
  HeadRows mask, shift;             ///< broadcast axes have distance 0
  std::int64_t shift_rows = 0;      ///< rows of the shift, or 0 if a row is broadcast
  std::int64_t sequence_count = 0;  ///< in TND
  DType query_ends = DType::int64, key_ends = DType::int64, prefixes = DType::int64;
  DType sink_dtype = DType::fp32;
  bool has_query_ends = false, has_key_ends = false;  ///< without TND: lengths
  std::int64_t rope_size = 0;  ///< elements of a second part of queries and keys
  HeadRows query_rope, key_rope;
  std::int64_t page = 0, most_pages = 0, pages = 0;  ///< keys of a page; 0: not in pages
  DType table = DType::int32;
  bool is_quantised = false;  ///< keys and values are int8
  /// Scales of a sequence, if each key has one; 0: each channel of a head has one.
  std::int64_t scale_batch = 0;

  /// The result among the inputs of the gradient: behind its statistics, one or two.
  std::size_t result_input() const { return gives_logsumexp ? 5 : 6; }
  /// Elements of a query and of a key with both parts.
  std::int64_t width() const { return size + rope_size; }
  /// The scale of element `i` of key or value `j` with `elements` elements.
  std::int64_t scale_at(const AttentionSequence& s, std::int64_t key_head, std::int64_t elements,
                        std::int64_t j, std::int64_t i) const {
    return scale_batch > 0 ? s.number * scale_batch + j : key_head * elements + i;
  }
  std::int64_t group() const { return key_heads == 0 ? 1 : heads / key_heads; }
  /// Sequences of all batches.
  std::int64_t sequences() const { return is_packed ? sequence_count : batch; }
  /// The visible pairs of all sequences, except those that sparse_mode 7 and 8 select.
  Visibility visibility() const;
  /// The keys that query `i` of a sequence sees without a mask.
  KeyRange visible(const AttentionSequence& sequence, std::int64_t i) const;
  /// Visible pairs without a mask, of all heads. For TND all sequences have equal length.
  double visible_pairs() const;
};

/// The attention of a use of flash_attention_score or its gradient, whose optional inputs begin at
/// `first_optional`. Errors: throws Error that names the operator, the input and the rule.
Attention attention_of(std::string_view op, std::span<const TensorDesc> inputs, const Attrs& attrs,
                       std::size_t first_optional);

/// The attention of fused_infer_attention_score.
Attention inference_attention_of(std::span<const TensorDesc> inputs, const Attrs& attrs);

/// The extents of a tensor of heads in a layout, and its distances.
struct HeadTensor {
  std::int64_t batches, heads, rows, size;
  HeadRows places;
};

/// The tensor of queries, keys or values. `heads` is used by BSH and SBH.
HeadTensor head_tensor(const Dims& shape, std::string_view layout, std::int64_t heads);

/// The attention of scaled_dot_product_attention or its gradient, whose mask is input `mask`.
Attention torch_attention_of(std::string_view op, std::span<const TensorDesc> inputs,
                             const Attrs& attrs, std::size_t mask);

/// A use whose dtypes are not checked: a dump may have fp64.
inline Problem unchecked_problem(const Op& op, std::span<const InputReader> inputs,
                                 const Attrs& attrs) {
  Problem problem{&op, descs_of(inputs), {}, attrs};
  problem.outputs = op.infer(problem.inputs, attrs);
  return problem;
}

/// The attention of a use of any of these operators.
Attention attention_of(const Problem& problem);

/// Adds a mask of PyTorch: true shows a pair, numbers are added to the scores.
void take_torch_mask(std::string_view op, const TensorDesc& desc, std::size_t place, Attention& a);

/// Adds the optional inputs to an attention whose other members are known. Errors: as attention_of.
void take_optional_inputs(std::string_view op, std::span<const TensorDesc> inputs, Attention& a);

/// Errors: throws Error that names the operator, an input and its shape.
[[noreturn]] void refuse_shape(std::string_view op, std::string_view input, const TensorDesc& desc,
                               std::string_view allowed);

/// Op::check_values of both operators: lengths stay within the tensors.
void check_attention_values(const Problem& problem, std::span<const InputReader> inputs);

/// pre_tokens or next_tokens, at most 2^40 either way: sums with places do not overflow.
inline std::int64_t band_tokens(const Attrs& attrs, std::string_view name) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  return std::clamp(attrs.integer(name), -kMost, kMost);
}

/// The attributes of both operators.
std::vector<AttrSpec> attention_attrs();

/// Queries and keys whose scores have a deviation of 4/3, for any scale: greater ones would leave
/// one share for each row.
Distribution attention_query_data(const Problem& problem);
Distribution attention_key_data(const Problem& problem);

/// The rows of dumps for calls `names`, and that of profiles for `cann`. `masked` are the inputs
/// with atten_mask, `inputs` those in which it may be missing.
std::vector<KnownCall> attention_calls(std::string_view cann, std::string_view names,
                                       std::string_view masked, std::string_view inputs,
                                       std::string_view outputs);

/// The layouts that a query of this shape may have, given the shape of softmax_max, perhaps
/// flattened, and the sparse_mode of a compressed mask among `inputs`.
LikelyAttrs likely_of_attention(const Dims& query, const Dims& statistics, const Shapes& inputs);

/// The optional inputs of both operators.
inline constexpr std::size_t kOptionalInputs = 7;
std::vector<TensorSpec> attention_optional_inputs();

/// The sequences and the optional inputs of one call.
class AttentionCall {
 public:
  AttentionCall(const Attention& of, std::span<const void* const> inputs);

  const std::vector<AttentionSequence>& sequences() const { return sequences_; }
  const AttentionSequence& sequence(std::int64_t number) const {
    return sequences_[std::size_t(number)];
  }
  /// Calls body(run) for the keys of a sequence: once, or for each page.
  template <class Body>
  void for_each_run(const AttentionSequence& s, KeyRange keys, Body body) const {
    for (KeyRun run{keys.first, s.batch, s.first_key + keys.first, keys.count()};
         run.key < keys.end; run.key += run.count) {
      if (of_->page > 0) {
        run.batch =
            whole(of_->places.table, of_->table, s.number * of_->most_pages + run.key / of_->page);
        run.row = run.key % of_->page;
        run.count = std::min(of_->page - run.row, keys.end - run.key);
      }
      body(run);
    }
  }
  /// The mask of a row of keys, or null. `is_hidden` reads it.
  const std::uint8_t* mask_row(const AttentionSequence& s, std::int64_t head, std::int64_t i) const;
  bool is_hidden(std::uint8_t mask) const { return (mask != 0) != of_->mask_shows; }
  /// The numbers that are added to the scores of a query and `keys`.
  void shift_row(const AttentionSequence& s, std::int64_t head, std::int64_t i, KeyRange keys,
                 double* to) const;
  /// True if dropout keeps a share.
  bool keeps(const AttentionSequence& s, std::int64_t head, std::int64_t i, std::int64_t j) const;
  /// The sink of a head, which enters the sum of its rows without a value.
  std::optional<float> sink(std::int64_t head) const;

 private:
  std::int64_t whole(std::size_t input, DType dtype, std::int64_t i) const;
  void set_bands();

  const Attention* of_;
  std::span<const void* const> inputs_;
  std::vector<AttentionSequence> sequences_;
};

}  // namespace opbench
