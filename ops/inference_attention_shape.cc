// Layouts and sizes of fused_infer_attention_score.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/inference_attention.h"
#include "tensor/error.h"

namespace opbench {
namespace {

using namespace inference_inputs;

constexpr std::string_view kInferenceName = "fused_infer_attention_score";

[[noreturn]] void refuse(std::string_view text) {
  throw Error(fmt::format("{}: {}", kInferenceName, text));
}

/// A use whose attention is read input by input.
struct InferenceUse {
  std::span<const TensorDesc> inputs;
  const std::string& layout;
  Attention a;

  const Dims& shape(std::size_t i) const { return inputs[i].shape; }
  bool is_joined() const { return layout == "BSH"; }
  std::size_t rank() const { return is_joined() || a.is_packed ? 3 : 4; }
  std::size_t heads_axis() const { return layout == "BNSD" || a.is_packed ? 1 : 2; }
  [[noreturn]] void refuse_input(std::string_view input, std::size_t i,
                                 const std::string& allowed) const {
    refuse_shape(kInferenceName, input, inputs[i], allowed);
  }

  bool has_heads(const Dims& s, std::int64_t heads) const {
    return s.size() == rank() && (is_joined() ? s[2] % heads == 0 : s[heads_axis()] == heads);
  }

  void take_query() {
    if (a.heads < 1 || a.key_heads < 1 || a.heads % a.key_heads != 0) {
      refuse(fmt::format("{} heads and {} of keys; allowed: a multiple", a.heads, a.key_heads));
    }
    if (!has_heads(shape(kQuery), a.heads)) {
      refuse_input("query", kQuery, fmt::format("{} with {} heads", layout, a.heads));
    }
    const HeadTensor q = head_tensor(shape(kQuery), layout, a.heads);
    a.batch = q.batches, a.queries = q.rows, a.size = q.size, a.query = q.places;
  }

  void take_sequences() {
    a.has_query_ends = is_given(inputs, kQueryLengths);
    a.has_key_ends = is_given(inputs, kKeyLengths);
    if (a.is_packed && !(a.has_query_ends && a.has_key_ends)) {
      refuse("layout TND needs actual_seq_lengths and actual_seq_lengths_kv");
    }
    a.sequence_count = a.is_packed ? inputs[kQueryLengths].elements() : a.batch;
    for (const std::size_t i : {kQueryLengths, kKeyLengths}) {
      if (!is_given(inputs, i) || shape(i) == Dims{a.sequence_count}) continue;
      refuse_input(i == kQueryLengths ? "actual_seq_lengths" : "actual_seq_lengths_kv", i,
                   std::to_string(a.sequence_count));
    }
    if (a.has_query_ends) a.query_ends = inputs[kQueryLengths].dtype;
    if (a.has_key_ends) a.key_ends = inputs[kKeyLengths].dtype;
  }

  /// The layout of keys and values; pages are batches.
  std::string_view key_layout() const {
    if (a.page == 0) return layout;
    return shape(kKey).size() == 4 ? "BNSD" : "BSH";
  }

  void take_pages() {
    const Dims &table = shape(kBlockTable), &k = shape(kKey);
    if (table.size() != 2 || table[0] != a.sequence_count) {
      refuse_input("block_table", kBlockTable, fmt::format("[{}, blocks]", a.sequence_count));
    }
    if (!a.has_key_ends) refuse("a block_table needs actual_seq_lengths_kv");
    const bool by_heads = k.size() == 4;
    if (!(by_heads ? k[1] == a.key_heads : k.size() == 3 && k[2] % a.key_heads == 0)) {
      refuse_input("key", kKey,
                   fmt::format("[blocks, block_size, elements of {0} heads] or [blocks, {0}, "
                               "block_size, elements]",
                               a.key_heads));
    }
    a.pages = k[0], a.page = k[by_heads ? 2 : 1], a.most_pages = table[1];
    a.table = inputs[kBlockTable].dtype;
    if (a.page == 0) refuse_input("key", kKey, "blocks of one token or more");
  }

  void take_keys() {
    const Dims &k = shape(kKey), &v = shape(kValue);
    if (is_given(inputs, kBlockTable)) {
      take_pages();
    } else if (!has_heads(k, a.key_heads) || (!a.is_packed && k[0] != a.batch)) {
      refuse_input("key", kKey, fmt::format("{} with {} heads", layout, a.key_heads));
    }
    const HeadTensor keys = head_tensor(k, key_layout(), a.key_heads);
    a.keys = a.page > 0 ? a.most_pages * a.page : keys.rows;
    a.key = keys.places;
    Dims like = k;
    if (!v.empty()) like.back() = v.back();
    if (v != like) {
      refuse_input("value", kValue, to_string(k) + " except for the last extent");
    }
    if (keys.size != a.size || a.size == 0) {
      refuse_input("key", kKey, fmt::format("{} elements of a head", a.size));
    }
    const HeadTensor values = head_tensor(v, key_layout(), a.key_heads);
    a.value = values.places, a.value_size = values.size;
  }

  // The tensor `i`, like `like` but for the elements of its heads.
  HeadTensor take_rope(std::string_view input, std::size_t i, std::size_t like,
                       std::string_view of_layout, std::int64_t heads) const {
    Dims expected = shape(like);
    expected.back() = expected.back() / a.size * a.rope_size;
    if (shape(i) != expected) refuse_input(input, i, to_string(expected));
    return head_tensor(expected, of_layout, heads);
  }

  void take_ropes() {
    if (is_given(inputs, kQueryRope) != is_given(inputs, kKeyRope)) {
      refuse("query_rope and key_rope are given together");
    }
    if (!is_given(inputs, kQueryRope)) return;
    const Dims& rope = shape(kQueryRope);
    a.rope_size = (rope.empty() ? 0 : rope.back()) / (is_joined() ? a.heads : 1);
    a.query_rope = take_rope("query_rope", kQueryRope, kQuery, layout, a.heads).places;
    a.key_rope = take_rope("key_rope", kKeyRope, kKey, key_layout(), a.key_heads).places;
  }

  void take_scales(bool by_key) {
    for (const std::size_t i : {kKeyScale, kValueScale}) {
      const std::string_view name =
          i == kKeyScale ? "key_antiquant_scale" : "value_antiquant_scale";
      if (!is_given(inputs, i)) refuse(fmt::format("{} is not given", name));
      const std::int64_t count = inputs[i].elements(),
                         channels = a.key_heads * (i == kKeyScale ? a.size : a.value_size);
      const bool is_like_key = i == kKeyScale || a.batch * a.scale_batch == count;
      if (by_key && a.batch > 0 && count % a.batch == 0 && count / a.batch >= a.keys &&
          !a.is_packed && is_like_key) {
        a.scale_batch = count / a.batch;
      } else if (by_key || count != channels) {
        refuse_input(name, i,
                     by_key ? fmt::format("[{}, {}]", a.batch, a.keys) : std::to_string(channels));
      }
    }
    if (inputs[kValueScale].dtype == inputs[kKeyScale].dtype) return;
    refuse(fmt::format(
        "'value_antiquant_scale' has dtype {}; allowed: {}, that of 'key_antiquant_scale'",
        name(inputs[kValueScale].dtype), name(inputs[kKeyScale].dtype)));
  }

  void take_mask() {
    const Dims& mask = shape(kMask);
    const std::int64_t width = mask.empty() ? 0 : mask.back(),
                       rows = width == 0 ? 0 : element_count(mask) / width;
    const bool is_shared = rows == a.queries;
    if (a.is_packed || width < a.keys || (!is_shared && rows != a.batch * a.queries)) {
      refuse_input("atten_mask", kMask,
                   fmt::format("[{0}, keys] or [{1}, 1, {0}, keys] with {2} keys or more",
                               a.queries, a.batch, a.keys));
    }
    a.has_mask = width > 0;
    a.mask = {is_shared ? 0 : a.queries * width, 0, width};
  }
};

}  // namespace

Attention inference_attention_of(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  InferenceUse use{inputs, attrs.word("input_layout"), {}};
  Attention& a = use.a;
  a.heads = attrs.integer("num_heads"), a.key_heads = attrs.integer("num_key_value_heads");
  if (a.key_heads == 0) a.key_heads = a.heads;
  a.scale = attrs.number("scale");
  a.is_packed = use.layout == "TND";
  a.gives_logsumexp = true, a.gives_statistics = attrs.flag("softmax_lse_flag");
  a.places.mask = kMask, a.places.query_ends = kQueryLengths, a.places.key_ends = kKeyLengths;
  a.places.table = kBlockTable, a.places.query_rope = kQueryRope, a.places.key_rope = kKeyRope;
  a.places.key_scale = kKeyScale, a.places.value_scale = kValueScale;
  use.take_query();
  use.take_sequences();
  use.take_keys();
  use.take_ropes();
  Dims out = inputs[kQuery].shape;
  out.back() = out.back() / a.size * a.value_size;
  a.out = head_tensor(out, use.layout, a.heads).places;
  a.statistics =
      a.is_packed ? HeadRows{0, 1, a.heads} : HeadRows{a.heads * a.queries, a.queries, 1};
  a.is_quantised = inputs[kKey].dtype == DType::int8;
  if (a.is_quantised) use.take_scales(attrs.integer("key_antiquant_mode") == 1);
  // A step of decoding ignores sparse_mode.
  const std::int64_t mode = attrs.integer("sparse_mode");
  a.mode = a.queries > 1 || a.rope_size > 0 ? mode : 0;
  a.before = band_tokens(attrs, "pre_tokens"), a.after = band_tokens(attrs, "next_tokens");
  if (is_given(inputs, kMask) && mode < 2) use.take_mask();
  return a;
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
