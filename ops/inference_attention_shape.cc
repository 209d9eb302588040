// Layouts and sizes of fused_infer_attention_score.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/attention.h"
#include "ops/inference_attention.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "fused_infer_attention_score";

[[noreturn]] void refuse(std::string_view input, const Dims& shape, const std::string& allowed) {
  throw Error(
      fmt::format("{}: '{}' has shape {}; allowed: {}", kName, input, to_string(shape), allowed));
}

}  // namespace

InferenceAttention::InferenceAttention(std::span<const TensorDesc> inputs, const Attrs& attrs)
    : heads(attrs.integer("num_heads")),
      key_heads(attrs.integer("num_key_value_heads")),
      scale(attrs.number("scale")),
      mode(attrs.integer("sparse_mode")),
      before(band_tokens(attrs, "pre_tokens")),
      after(band_tokens(attrs, "next_tokens")) {
  const std::string& layout = attrs.word("input_layout");
  const Dims &q = inputs[kQuery].shape, &k = inputs[kKey].shape, &v = inputs[kValue].shape;
  if (key_heads == 0) key_heads = heads;
  if (heads < 1 || key_heads < 1 || heads % key_heads != 0) {
    throw Error(
        fmt::format("{}: {} heads and {} of keys; allowed: a multiple", kName, heads, key_heads));
  }
  const bool is_bsh = layout == "BSH", is_bnsd = layout == "BNSD";
  is_packed = layout == "TND";
  const std::size_t rank = is_bsh || is_packed ? 3 : 4;
  const std::size_t heads_axis = is_bnsd || is_packed ? 1 : 2;
  const bool fits = q.size() == rank && (is_bsh ? q[2] % heads == 0 : q[heads_axis] == heads);
  if (!fits) refuse("query", q, fmt::format("{} with {} heads", layout, heads));
  width = is_bsh ? q[2] / heads : q.back();
  most_queries = is_packed ? q[0] : q[is_bnsd ? 2 : 1];
  query = is_packed ? HeadLines{0, 1, heads}
          : is_bnsd ? HeadLines{heads * most_queries, most_queries, 1}
                    : HeadLines{heads * most_queries, 1, heads};
  lse = is_packed ? query : HeadLines{heads * most_queries, most_queries, 1};
  const bool is_paged = is_given(inputs, kBlockTable);
  if (is_packed && !(is_given(inputs, kQueryLengths) && is_given(inputs, kKeyLengths))) {
    throw Error(
        fmt::format("{}: layout TND needs actual_seq_lengths and actual_seq_lengths_kv", kName));
  }
  batch = is_packed ? inputs[kQueryLengths].elements() : q[0];
  for (const std::size_t i : {kQueryLengths, kKeyLengths}) {
    if (!is_given(inputs, i) || inputs[i].shape == Dims{batch}) continue;
    refuse(i == kQueryLengths ? "actual_seq_lengths" : "actual_seq_lengths_kv", inputs[i].shape,
           std::to_string(batch));
  }
  // The elements of a head of keys or values.
  const auto head_width = [&](const Dims& shape) {
    if (is_paged) return shape.size() == 3 ? shape[2] / key_heads : shape.back();
    return is_bsh ? shape.back() / key_heads : shape.back();
  };
  if (is_paged) {
    const Dims& table = inputs[kBlockTable].shape;
    if (table.size() != 2 || table[0] != batch) {
      refuse("block_table", table, fmt::format("[{}, blocks]", batch));
    }
    if (!is_given(inputs, kKeyLengths)) {
      throw Error(fmt::format("{}: a block_table needs actual_seq_lengths_kv", kName));
    }
    const bool by_heads = k.size() == 4;
    const bool is_cache = by_heads ? k[1] == key_heads : k.size() == 3 && k[2] % key_heads == 0;
    if (!is_cache) {
      refuse("key", k,
             fmt::format("[blocks, block_size, elements of {0} heads] or [blocks, {0}, block_size, "
                         "elements]",
                         key_heads));
    }
    blocks = k[0];
    block_size = k[by_heads ? 2 : 1];
    if (block_size == 0) refuse("key", k, "blocks of one token or more");
    most_blocks = table[1];
    most_keys = most_blocks * block_size;
    key = by_heads ? HeadLines{key_heads * block_size, block_size, 1}
                   : HeadLines{key_heads * block_size, 1, key_heads};
  } else {
    const bool is_like = k.size() == rank && (is_packed || k[0] == batch) &&
                         (is_bsh ? k[2] % key_heads == 0 : k[heads_axis] == key_heads);
    if (!is_like) refuse("key", k, fmt::format("{} with {} heads", layout, key_heads));
    most_keys = is_packed ? k[0] : k[is_bnsd ? 2 : 1];
    key = is_packed ? HeadLines{0, 1, key_heads}
          : is_bnsd ? HeadLines{key_heads * most_keys, most_keys, 1}
                    : HeadLines{key_heads * most_keys, 1, key_heads};
  }
  Dims like = k;
  if (!like.empty() && !v.empty()) like.back() = v.back();
  if (v != like) refuse("value", v, to_string(k) + " except for the last extent");
  value_width = head_width(v);
  if (head_width(k) != width || width == 0) {
    refuse("key", k, fmt::format("{} elements of a head", width));
  }
  if (is_given(inputs, kQueryRope) != is_given(inputs, kKeyRope)) {
    throw Error(fmt::format("{}: query_rope and key_rope are given together", kName));
  }
  if (is_given(inputs, kQueryRope)) {
    const Dims &q_rope = inputs[kQueryRope].shape, &k_rope = inputs[kKeyRope].shape;
    rope_width = is_bsh ? q_rope.back() / heads : q_rope.back();
    Dims like_q = q, like_k = k;
    like_q.back() = rope_width * (is_bsh ? heads : 1);
    like_k.back() = k.back() / width * rope_width;
    if (q_rope != like_q) refuse("query_rope", q_rope, to_string(like_q));
    if (k_rope != like_k) refuse("key_rope", k_rope, to_string(like_k));
  }
  set_scales(inputs, attrs);
  if (!is_given(inputs, kMask) || mode >= 2) return;
  const Dims& mask = inputs[kMask].shape;
  mask_width = mask.empty() ? 0 : mask.back();
  const std::int64_t rows = mask_width == 0 ? 0 : element_count(mask) / mask_width;
  const bool is_shared = rows == most_queries;
  if (is_packed || mask_width < most_keys || (!is_shared && rows != batch * most_queries)) {
    refuse("atten_mask", mask,
           fmt::format("[{0}, keys] or [{1}, 1, {0}, keys] with {2} keys or more", most_queries,
                       batch, most_keys));
  }
  mask_batch = is_shared ? 0 : most_queries * mask_width;
}

void InferenceAttention::set_scales(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  is_quantised = inputs[kKey].dtype == DType::int8;
  if (!is_quantised) return;
  const bool by_key = attrs.integer("key_antiquant_mode") == 1;
  for (const std::size_t i : {kKeyScale, kValueScale}) {
    const std::string_view name = i == kKeyScale ? "key_antiquant_scale" : "value_antiquant_scale";
    if (!is_given(inputs, i)) throw Error(fmt::format("{}: {} is not given", kName, name));
    const std::int64_t count = inputs[i].elements(),
                       channels = key_heads * (i == kKeyScale ? width : value_width);
    const bool is_like_key = i == kKeyScale || batch * scale_batch == count;
    if (by_key && batch > 0 && count % batch == 0 && count / batch >= most_keys && !is_packed &&
        is_like_key) {
      scale_batch = count / batch;
    } else if (by_key || count != channels) {
      refuse(name, inputs[i].shape,
             by_key ? fmt::format("[{}, {}]", batch, most_keys) : std::to_string(channels));
    }
  }
  if (inputs[kValueScale].dtype == inputs[kKeyScale].dtype) return;
  throw Error(
      fmt::format("{}: 'value_antiquant_scale' has dtype {}; allowed: {}, that of "
                  "'key_antiquant_scale'",
                  kName, name(inputs[kValueScale].dtype), name(inputs[kKeyScale].dtype)));
}

InferenceAttention::Band InferenceAttention::band(const SequenceRows& of, std::int64_t row) const {
  Band band{0, of.keys};
  if (!is_banded()) return band;
  const std::int64_t diagonal = mode == 2 ? row : row + of.keys - of.queries;
  band.end = diagonal + 1;
  if (mode == 4) band = {diagonal - before, diagonal + after + 1};
  band.first = std::clamp<std::int64_t>(band.first, 0, of.keys);
  band.end = std::clamp(band.end, band.first, of.keys);
  return band;
}

QueryRow InferenceAttention::row_of_line(const HeadLines& lines, std::int64_t line) const {
  if (is_packed) return {0, line % heads, line / heads};
  const std::int64_t b = line / lines.outer, rest = line % lines.outer;
  if (lines.head == 1) return {b, rest % heads, rest / heads};
  return {b, rest / most_queries, rest % most_queries};
}

// Head sizes of a BSH row are not recorded; 128 is the usual one. Keys are like the query, or
// paged.
LikelyAttrs likely_inference_attention(const Shapes& inputs, const Shapes& outputs) {
  constexpr double kBnsd = 0, kBsnd = 1, kBsh = 2, kTnd = 4, kUsualHead = 128;
  const Dims &query = inputs[0], &key = inputs[1];
  const bool is_known = (query.size() == 3 || query.size() == 4) && key.size() >= 3;
  if (!is_known) return {};
  LikelyAttrs all;
  const auto add = [&](double layout, double heads, double head, double key_heads) {
    all.push_back({{"input_layout", {layout}},
                   {"num_heads", {heads}},
                   {"num_key_value_heads", {key_heads}},
                   {"scale", {1 / std::sqrt(head)}}});
  };
  const bool has_lse = outputs.size() > 1 && outputs[1].size() > 1;
  const double last = double(key.back());
  if (query.size() == 4) {
    const double head = double(query[3]);
    for (const double heads : {double(key[1]), last / head}) {
      add(kBnsd, double(query[1]), head, heads);
    }
    for (const double heads : {double(key[2]), double(key[1]), last / head}) {
      add(kBsnd, double(query[2]), head, heads);
    }
  } else if (has_lse && outputs[1].size() == 3) {
    const double head = double(query[2]);
    for (const double heads : {double(key[1]), last / head}) {
      add(kTnd, double(query[1]), head, heads);
    }
  } else {
    const double heads = has_lse ? double(outputs[1][1]) : double(query[2]) / kUsualHead;
    const double head = double(query[2]) / heads;
    add(kBsh, heads, head, last / head);
    add(kBsh, heads, head, double(key[1]));
  }
  return all;
}

}  // namespace opbench
