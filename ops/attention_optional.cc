// The optional inputs of attention: their shapes, and the values of those that are lengths.
#include <fmt/format.h>

#include <algorithm>

#include "ops/attention.h"
#include "ops/index.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::int64_t kCompressedMask = 2048;  // side of a mask that sparse_mode repeats
constexpr std::int64_t kLastRows = 1024;        // rows of a shift that depends on j - i only
// Distances of an optional input that is broadcast to [batch, heads, rows, keys]; its rows are
// `rows` or one.
HeadRows broadcast_rows(const Dims& s) {
  const std::int64_t keys = s.back(), rows = s[s.size() - 2];
  HeadRows places{0, 0, rows > 1 ? keys : 0};
  if (s.size() > 2 && s[s.size() - 3] > 1) places.head = rows * keys;
  if (s.size() > 3 && s[0] > 1) places.batch = s[1] * rows * keys;
  return places;
}

bool broadcasts_to(const Dims& s, std::int64_t batch, std::int64_t heads) {
  if (s.size() == 4 && s[0] != 1 && s[0] != batch) return false;
  return s.size() < 3 || s[s.size() - 3] == 1 || s[s.size() - 3] == heads;
}

void take_mask(std::string_view op, const TensorDesc& desc, Attention& a) {
  const Dims& s = desc.shape;
  const bool makes_its_own = (a.mode >= 2 && a.mode <= 4) || a.mode >= 6;
  if (makes_its_own) {
    if (s.size() < 2 || s.back() != kCompressedMask) {
      refuse_shape(op, "atten_mask", desc,
                   fmt::format("[2048, 2048], which sparse_mode {} makes itself, or none", a.mode));
    }
    return;
  }
  const bool has_pairs = (s.size() == 2 || s.size() == 4) && s.back() >= a.keys &&
                         (s[s.size() - 2] >= a.queries || a.is_packed);
  const bool fits = a.is_packed ? s.size() == 2
                                : has_pairs && s.back() == a.keys && s[s.size() - 2] == a.queries &&
                                      broadcasts_to(s, a.batch, a.heads);
  if (!fits) {
    refuse_shape(op, "atten_mask", desc,
                 fmt::format("[{0} or 1, {1} or 1, {2}, {3}] or [{2}, {3}]", a.batch, a.heads,
                             a.queries, a.keys));
  }
  a.has_mask = true;
  a.mask = broadcast_rows(s);
  if (s[s.size() - 2] == 1) a.mask.row = 0;
}

void take_slopes(std::string_view op, const TensorDesc& desc, Attention& a) {
  const Dims& s = desc.shape;
  if (s == Dims{a.heads}) {
    a.shift = {0, 1, 0};
  } else if (s == Dims{a.batch, a.heads} && !a.is_packed) {
    a.shift = {a.heads, 1, 0};
  } else {
    refuse_shape(op, "real_shift", desc,
                 fmt::format("[{0}] or [{1}, {0}], one slope for each head, for pse_type {2}",
                             a.heads, a.batch, a.shift_type));
  }
}

void take_shift(std::string_view op, const TensorDesc& desc, Attention& a) {
  a.has_shift = true;
  a.shift_dtype = desc.dtype;
  if (a.shift_type >= 2) return take_slopes(op, desc, a);
  const Dims& s = desc.shape;
  const bool has_last_rows =
      s.size() == 4 && s[2] == kLastRows && a.queries > kLastRows && a.queries == a.keys;
  const bool fits = !a.is_packed && s.size() == 4 && s[3] == a.keys && s[1] == a.heads &&
                    broadcasts_to(s, a.batch, a.heads) &&
                    (s[2] == 1 || s[2] == a.queries || has_last_rows);
  if (!fits) {
    refuse_shape(
        op, "real_shift", desc,
        fmt::format("[{0} or 1, {1}, {2} or 1, {3}] for pse_type 0 and 1, not with TND; the "
                    "last 1024 of more than 1024 rows",
                    a.batch, a.heads, a.queries, a.keys));
  }
  a.shift = broadcast_rows(s);
  a.shift_rows = s[2] == 1 ? 0 : s[2];
}

void require_count(std::string_view op, std::string_view input, const TensorDesc& desc,
                   std::int64_t count, std::string_view meaning) {
  if (desc.shape == Dims{count}) return;
  refuse_shape(op, input, desc, fmt::format("[{}], {}", count, meaning));
}

void require_dtype(std::string_view op, std::string_view input, DType dtype, bool fits,
                   std::string_view allowed) {
  if (fits) return;
  throw Error(fmt::format("{}: '{}' has dtype {}; allowed: {}", op, input, name(dtype), allowed));
}

void require_index(std::string_view op, std::string_view input, const TensorDesc& desc) {
  const bool fits = desc.dtype == DType::int64 || desc.dtype == DType::int32;
  require_dtype(op, input, desc.dtype, fits, "int64, int32");
}

void require_bits(std::string_view op, const TensorDesc& drop, std::int64_t bits) {
  const std::int64_t bytes = bits / 8 + (bits % 8 == 0 ? 0 : 1);
  if (drop.elements() >= bytes) return;
  refuse_shape(op, "drop_mask", drop, fmt::format("{} bytes or more, a bit for each pair", bytes));
}

void take_lengths(std::string_view op, std::span<const TensorDesc> inputs, Attention& a) {
  const bool has_queries = is_given(inputs, a.places.query_ends),
             has_keys = is_given(inputs, a.places.key_ends);
  if (!a.is_packed) {
    if (!has_queries && !has_keys) return;
    throw Error(
        fmt::format("{}: lengths of sequences are given for input_layout with a batch; "
                    "allowed: with TND",
                    op));
  }
  if (!has_queries || !has_keys) {
    throw Error(
        fmt::format("{}: input_layout TND needs 'actual_seq_qlen' and 'actual_seq_kvlen', "
                    "the running totals of the sequences",
                    op));
  }
  const TensorDesc &of_queries = inputs[a.places.query_ends], &of_keys = inputs[a.places.key_ends];
  if (of_queries.shape.size() != 1) refuse_shape(op, "actual_seq_qlen", of_queries, "one axis");
  require_index(op, "actual_seq_qlen", of_queries);
  require_index(op, "actual_seq_kvlen", of_keys);
  a.has_query_ends = a.has_key_ends = true;
  a.sequence_count = of_queries.shape[0];
  a.query_ends = of_queries.dtype;
  a.key_ends = of_keys.dtype;
  require_count(op, "actual_seq_kvlen", of_keys, a.sequence_count, "a total for each sequence");
}

// Totals ascend up to the number of rows; zeros at the end switch sequences off.
void check_totals(std::string_view op, std::string_view name, const InputReader& input,
                  std::int64_t rows, std::int64_t longest) {
  std::int64_t last = 0;
  for (const std::int64_t total : input.read_index()) {
    if (total == 0) continue;
    if (total < last || total > rows || total - last > longest) {
      throw Error(
          fmt::format("{}: '{}' has {} after {}; allowed: ascending totals, at most {}, of "
                      "sequences up to {}",
                      op, name, total, last, rows, longest));
    }
    last = total;
  }
}

}  // namespace

void take_optional_inputs(std::string_view op, std::span<const TensorDesc> inputs, Attention& a) {
  const AttentionInputs& at = a.places;
  take_lengths(op, inputs, a);
  if (is_given(inputs, at.shift)) take_shift(op, inputs[at.shift], a);
  if (a.shift_type >= 2 && !a.has_shift) {
    throw Error(
        fmt::format("{}: pse_type {} needs 'real_shift', a slope for each head", op, a.shift_type));
  }
  if (is_given(inputs, at.drop)) {
    a.has_drop = true;
    const std::int64_t bits = element_count({a.batch, a.heads, a.queries, a.keys});
    if (!a.is_packed) require_bits(op, inputs[at.drop], bits);
  }
  if (a.keep < 1 && !a.has_drop) {
    throw Error(fmt::format("{}: keep_prob {} needs 'drop_mask'", op, a.keep));
  }
  if (is_given(inputs, at.mask)) take_mask(op, inputs[at.mask], a);
  if (is_given(inputs, at.prefix)) {
    require_count(op, "prefix", inputs[at.prefix], a.sequences(),
                  "a number of keys for each sequence");
    require_index(op, "prefix", inputs[at.prefix]);
    a.has_prefix = true;
    a.prefixes = inputs[at.prefix].dtype;
  } else if (a.mode == 6) {
    throw Error(fmt::format("{}: sparse_mode 6 needs 'prefix'", op));
  }
  if (is_given(inputs, at.sink)) {
    require_count(op, "sink", inputs[at.sink], a.heads, "a number for each head");
    a.sink_dtype = inputs[at.sink].dtype;
    require_dtype(op, "sink", a.sink_dtype, is_floating(a.sink_dtype), "a floating dtype");
    a.has_sink = true;
  }
}

void take_torch_mask(std::string_view op, const TensorDesc& desc, std::size_t place, Attention& a) {
  const Dims& s = desc.shape;
  const bool fits = s.size() >= 2 && s.size() <= 4 && s.back() == a.keys &&
                    (s[s.size() - 2] == 1 || s[s.size() - 2] == a.queries) &&
                    broadcasts_to(s, a.batch, a.heads);
  if (!fits) {
    refuse_shape(op, "attn_mask", desc,
                 fmt::format("[{} or 1, {} or 1, {} or 1, {}], or without its first axes", a.batch,
                             a.heads, a.queries, a.keys));
  }
  if (is_floating(desc.dtype)) {
    a.has_shift = true;
    a.shift_type = 0;
    a.shift_dtype = desc.dtype;
    a.shift = broadcast_rows(s);
    a.shift_rows = a.shift.row == 0 ? 0 : a.queries;
    a.places.shift = place;
    return;
  }
  a.has_mask = a.mask_shows = true;
  a.mask = broadcast_rows(s);
  a.places.mask = place;
}

void check_attention_values(const Problem& problem, std::span<const InputReader> inputs) {
  const std::string_view op = problem.op->name;
  const Attention a =
      attention_of(op, problem.inputs, problem.attrs, problem.op->inputs.size() - kOptionalInputs);
  if (a.has_prefix) {
    check_index({op, "prefix", a.keys + 1}, inputs[a.places.prefix].read_index());
  }
  if (!a.is_packed) return;
  // A mask has the pairs of the longest sequence.
  std::int64_t queries = a.queries, keys = a.keys;
  if (a.has_mask) {
    queries = problem.inputs[a.places.mask].shape[0];
    keys = problem.inputs[a.places.mask].shape[1];
  }
  check_totals(op, "actual_seq_qlen", inputs[a.places.query_ends], a.queries, queries);
  check_totals(op, "actual_seq_kvlen", inputs[a.places.key_ends], a.keys, keys);
  if (!a.has_drop || a.sequence_count == 0) return;
  std::vector<const void*> storage;
  for (const InputReader& input : inputs) storage.push_back(input.storage());
  const AttentionSequence last = AttentionCall(a, storage).sequence(a.sequence_count - 1);
  require_bits(op, problem.inputs[a.places.drop],
               last.first_bit + a.heads * last.queries * last.keys);
}

}  // namespace opbench
