#include "ops/attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

/// The layout and the number of heads of a use.
struct LayoutRule {
  std::string_view op;
  const std::string& layout;
  std::int64_t head_num;

  bool is_joined() const { return layout == "BSH" || layout == "SBH"; }
  std::size_t rank() const { return is_joined() || layout == "TND" ? 3 : 4; }

  void check_rank(std::string_view input, const TensorDesc& desc) const {
    if (desc.shape.size() != rank()) {
      refuse_shape(op, input, desc, fmt::format("{} axes for input_layout {}", rank(), layout));
    }
  }

  HeadTensor query(const TensorDesc& desc) const {
    check_rank("query", desc);
    if (is_joined() && (head_num < 1 || desc.shape[2] % head_num != 0)) {
      refuse_shape(op, "query", desc,
                   fmt::format("a last axis that head_num = {} divides (input_layout {})", head_num,
                               layout));
    }
    const HeadTensor found = head_tensor(desc.shape, layout, head_num);
    if (!is_joined() && head_num != 0 && head_num != found.heads) {
      refuse_shape(op, "query", desc, fmt::format("head_num = {} heads", head_num));
    }
    if (found.size == 0) refuse_shape(op, "query", desc, "heads with one or more elements");
    return found;
  }

  // `heads` is known for the value, `size` for the key.
  HeadTensor other(std::string_view input, const TensorDesc& desc, std::int64_t size,
                   std::int64_t heads) const {
    check_rank(input, desc);
    if (!is_joined()) return head_tensor(desc.shape, layout, 0);
    const std::int64_t divisor = heads != 0 ? heads : size;
    if (desc.shape[2] == 0 || desc.shape[2] % divisor != 0) {
      refuse_shape(op, input, desc, fmt::format("a last axis that is a multiple of {}", divisor));
    }
    return head_tensor(desc.shape, layout, heads != 0 ? heads : desc.shape[2] / size);
  }
};

void check_key_and_value(std::string_view op, std::span<const TensorDesc> inputs,
                         const HeadTensor& q, const HeadTensor& k, const HeadTensor& v) {
  const bool fits = k.batches == q.batches && k.size == q.size &&
                    (k.heads == 0 ? q.heads == 0 : q.heads % k.heads == 0);
  if (!fits) {
    throw Error(
        fmt::format("{}: 'query' has shape {} and 'key' {}; allowed: one batch, one size "
                    "of heads, and a multiple of the heads of the key",
                    op, to_string(inputs[0].shape), to_string(inputs[1].shape)));
  }
  if (v.batches != k.batches || v.rows != k.rows || v.heads != k.heads || v.size > k.size) {
    throw Error(
        fmt::format("{}: 'key' has shape {} and 'value' {}; allowed: equal, but heads of "
                    "the value may be smaller",
                    op, to_string(inputs[1].shape), to_string(inputs[2].shape)));
  }
}

// [.., heads*size] of BSH and SBH.
HeadTensor joined_heads(const Dims& s, std::int64_t heads, bool rows_first) {
  const std::int64_t size = s[2] / heads;
  if (rows_first) return {s[1], heads, s[0], size, {s[2], size, s[1] * s[2]}};
  return {s[0], heads, s[1], size, {s[1] * s[2], size, s[2]}};
}

}  // namespace

HeadTensor head_tensor(const Dims& s, std::string_view layout, std::int64_t heads) {
  if (layout == "BSH" || layout == "SBH") return joined_heads(s, heads, layout == "SBH");
  if (layout == "TND") return {1, s[1], s[0], s[2], {0, s[2], s[1] * s[2]}};
  if (layout == "BSND") {
    return {s[0], s[2], s[1], s[3], {s[1] * s[2] * s[3], s[3], s[2] * s[3]}};
  }
  return {s[0], s[1], s[2], s[3], {s[1] * s[2] * s[3], s[2] * s[3], s[3]}};
}

void refuse_shape(std::string_view op, std::string_view input, const TensorDesc& desc,
                  std::string_view allowed) {
  throw Error(
      fmt::format("{}: '{}' has shape {}; allowed: {}", op, input, to_string(desc.shape), allowed));
}

Visibility Attention::visibility() const {
  switch (mode) {
    case 2:
      return Visibility::left_up;
    case 3:
      return Visibility::right_down;
    case 4:
      return Visibility::band;
    case 5:
    case 6:
      return has_prefix ? Visibility::prefix : Visibility::all;
    default:
      return Visibility::all;
  }
}

KeyRange Attention::visible(const AttentionSequence& s, std::int64_t i) const {
  const std::int64_t corner = i + s.keys - s.queries;  // the key on the diagonal, right down
  KeyRange range{0, s.keys};
  switch (s.visibility) {
    case Visibility::all:
      break;
    case Visibility::left_up:
      range.end = i + 1;
      break;
    case Visibility::right_down:
      range.end = corner + 1;
      break;
    case Visibility::band:
      range = {corner - before, corner + after + 1};
      break;
    case Visibility::prefix:
      range.end = std::max(corner + 1, s.prefix);
      break;
  }
  range.first = std::clamp<std::int64_t>(range.first, 0, s.keys);
  range.end = std::clamp(range.end, range.first, s.keys);
  return range;
}

double Attention::visible_pairs() const {
  AttentionSequence s;
  const std::int64_t parts = is_packed ? std::max<std::int64_t>(1, sequence_count) : 1;
  s.queries = queries / parts;
  s.keys = page > 0 ? keys : keys / parts;
  s.visibility = visibility();
  if (mode >= 7) s.visibility = mode == 7 ? Visibility::right_down : Visibility::left_up;
  double pairs = 0;
  for (std::int64_t i = 0; i < s.queries; ++i) pairs += double(visible(s, i).count());
  return pairs * double(heads) * double(is_packed ? parts : batch);
}

Attention attention_of(std::string_view op, std::span<const TensorDesc> inputs, const Attrs& attrs,
                       std::size_t first_optional) {
  const LayoutRule rule{op, attrs.word("input_layout"), attrs.integer("head_num")};
  const HeadTensor q = rule.query(inputs[0]);
  const HeadTensor k = rule.other("key", inputs[1], q.size, 0);
  const HeadTensor v = rule.other("value", inputs[2], 0, k.heads);
  check_key_and_value(op, inputs, q, k, v);
  Attention a;
  a.batch = q.batches, a.heads = q.heads, a.key_heads = k.heads;
  a.queries = q.rows, a.keys = k.rows, a.size = q.size, a.value_size = v.size;
  a.is_packed = rule.layout == "TND";
  a.query = q.places, a.key = k.places, a.value = v.places;
  Dims out = inputs[0].shape;
  out.back() = rule.is_joined() ? q.heads * v.size : v.size;
  a.out = head_tensor(out, rule.layout, q.heads).places;
  const bool by_rows = a.is_packed && !attrs.word("softmax_layout").empty();
  constexpr std::int64_t kEach = kStatisticCopies;
  a.statistics = by_rows ? HeadRows{0, kEach, a.heads * kEach}
                         : HeadRows{a.heads * a.queries * kEach, a.queries * kEach, kEach};
  const double scale = attrs.number("scale_value");
  a.scale = scale == 0 ? 1 / std::sqrt(double(a.size)) : scale;
  a.keep = static_cast<float>(attrs.number("keep_prob"));
  a.mode = attrs.integer("sparse_mode");
  a.before = band_tokens(attrs, "pre_tokens"), a.after = band_tokens(attrs, "next_tokens");
  a.shift_type = attrs.integer("pse_type");
  a.places = AttentionInputs::from(first_optional);
  if (a.mode >= 7 && !a.is_packed) {
    throw Error(fmt::format("{}: sparse_mode {} has input_layout {}; allowed: TND", op, a.mode,
                            rule.layout));
  }
  take_optional_inputs(op, inputs, a);
  return a;
}

Attention torch_attention_of(std::string_view op, std::span<const TensorDesc> inputs,
                             const Attrs& attrs, std::size_t mask) {
  const std::pair<std::string_view, AttrValue> values[] = {
      {"scale_value", attrs.number("scale")},
      {"sparse_mode", std::int64_t{attrs.flag("is_causal") ? 2 : 0}}};
  Attention a = attention_of(op, inputs.first(3), attrs_with("flash_attention_score", values), 3);
  a.gives_logsumexp = true;
  a.statistics = {a.heads * a.queries, a.queries, 1};
  if (is_given(inputs, mask)) take_torch_mask(op, inputs[mask], mask, a);
  return a;
}

Attention attention_of(const Problem& problem) {
  const Op& op = *problem.op;
  if (op.ir_name == "FusedInferAttentionScore") {
    return inference_attention_of(problem.inputs, problem.attrs);
  }
  if (op.optional_inputs == 1) {
    return torch_attention_of(op.name, problem.inputs, problem.attrs, op.inputs.size() - 1);
  }
  return attention_of(op.name, problem.inputs, problem.attrs, op.inputs.size() - kOptionalInputs);
}

}  // namespace opbench
