// Attention in inference: queries of sequences against keys and values, which may be in pages of a
// cache.
#include "ops/inference_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/attention_reference.h"
#include "ops/elementwise.h"
#include "ops/index.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "ops/term_count.h"
#include "ops/terms.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "fused_infer_attention_score",
                           kQuantisedName = "fused_infer_attention_score_kv_int8";
constexpr std::string_view kRecordedAttrs =
    "num_heads, num_key_value_heads, scale, input_layout: input_layout as BNSD|BSND|BSH|SBH|TND, "
    "sparse_mode, pre_tokens, next_tokens, softmax_lse_flag";
constexpr std::string_view kQuantisedAttrs =
    "num_heads, num_key_value_heads, scale, input_layout: input_layout as BNSD|BSND|BSH|SBH|TND, "
    "sparse_mode, pre_tokens, next_tokens, softmax_lse_flag, key_antiquant_mode";
// Operands that the operators here do not take, or a dump does not hold.
constexpr std::string_view kUnknown =
    "key_antiquant_scale:, value_antiquant_scale:, antiquant_scale:, pse_shift:, dequant_scale1:, "
    "quant_scale2:, query_padding_size:, kv_padding_size:, key_shared_prefix:, "
    "actual_seq_lengths/0:, actual_seq_lengths_kv/0:";
constexpr std::string_view kUnknownOfQuantised =
    "key_antiquant_offset:, value_antiquant_offset:, antiquant_scale:, pse_shift:, "
    "dequant_scale1:, quant_scale2:, query_padding_size:, kv_padding_size:, key_shared_prefix:, "
    "actual_seq_lengths/0:, actual_seq_lengths_kv/0:";
using namespace inference_inputs;

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Attention a = inference_attention_of(inputs, attrs);
  Dims out = inputs[kQuery].shape;
  out.back() = out.back() / a.size * a.value_size;
  std::vector<TensorDesc> outputs = {with_shape(inputs[kQuery], out)};
  if (!a.gives_statistics) return outputs;
  const Dims lse = a.is_packed ? Dims{out[0], a.heads, 1} : Dims{a.batch, a.heads, a.queries, 1};
  outputs.push_back(describe(DType::fp32, lse));
  return outputs;
}

void check_lengths(std::string_view input, const std::vector<std::int64_t>& lengths,
                   std::int64_t most, bool are_totals) {
  std::int64_t before = 0;
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    const std::int64_t length = lengths[b] - before;
    if (length < 0 || (are_totals ? lengths[b] : length) > most) {
      throw Error(fmt::format("{}: {}[{}] is {}; allowed: {} to {}", kName, input, b, lengths[b],
                              before, most));
    }
    if (are_totals) before = lengths[b];
  }
}

std::vector<std::int64_t> lengths_of(std::span<const InputReader> inputs, std::size_t i) {
  return is_given(inputs, i) ? inputs[i].read_index() : std::vector<std::int64_t>{};
}

void check_values(const Problem& problem, std::span<const InputReader> inputs) {
  const Attention a = attention_of(problem);
  check_lengths("actual_seq_lengths", lengths_of(inputs, kQueryLengths), a.queries, a.is_packed);
  const std::int64_t most_keys = a.page > 0 && a.is_packed ? a.keys * a.sequences() : a.keys;
  check_lengths("actual_seq_lengths_kv", lengths_of(inputs, kKeyLengths), most_keys, a.is_packed);
  if (a.page == 0) return;
  const std::vector<std::int64_t> table = inputs[kBlockTable].read_index();
  std::vector<const void*> storage;
  for (const InputReader& input : inputs) storage.push_back(input.storage());
  const AttentionCall call(a, storage);
  for (const AttentionSequence& s : call.sequences()) {
    if (s.keys > a.keys) {
      throw Error(
          fmt::format("{}: sequence {} has {} keys; allowed: up to {}, those of its row of "
                      "'block_table'",
                      kName, s.number, s.keys, a.keys));
    }
    for (std::int64_t page = 0; page * a.page < s.keys; ++page) {
      const auto at = static_cast<std::size_t>(s.number * a.most_pages + page);
      if (table[at] >= 0 && table[at] < a.pages) continue;
      throw Error(fmt::format("{}: block_table[{}] is {}; allowed: 0 to {}", kName, at, table[at],
                              a.pages - 1));
    }
  }
}

// Sequences are taken to have all their keys. Unused pages of a cache are not read.
Traffic traffic(const Problem& problem) {
  const Attention a = attention_of(problem);
  Traffic traffic = movement_traffic(problem);
  traffic.operations = 2 * a.visible_pairs() * double(a.width() + a.value_size);
  if (a.page == 0) return traffic;
  const double read = std::min(1.0, double(a.sequences() * a.keys) / double(a.pages * a.page));
  for (const std::size_t i : {kKey, kValue, kKeyRope}) {
    if (!is_given(problem.inputs, i)) continue;
    traffic.bytes_read -= (1 - read) * double(problem.inputs[i].bytes());
  }
  return traffic;
}

Distribution lengths_data(const Problem& problem, std::size_t input) {
  const Attention a = attention_of(problem);
  const bool is_query = input == kQueryLengths;
  const std::int64_t most = is_query ? a.queries : a.keys;
  if (!a.is_packed) return {DistributionKind::constant, double(most)};
  const bool is_paged = !is_query && a.page > 0;
  const double each = double(is_paged ? most : most / std::max<std::int64_t>(1, a.sequences()));
  return {DistributionKind::arange, each, each};
}

TensorSpec lengths_spec(std::string_view name, Distribution (*data)(const Problem&)) {
  TensorSpec spec{name, name, kIndexDTypes, data};
  return spec;
}

AttrSpec layout_attr() {
  return {"input_layout", std::string("BSH"), "BSH, BSND, BNSD or TND (packed sequences)",
          [](const AttrValue& value) -> std::string {
            const auto& word = std::get<std::string>(value);
            const bool is_known =
                word == "BSH" || word == "BSND" || word == "BNSD" || word == "TND";
            return is_known ? "" : "it must be BSH, BSND, BNSD or TND";
          }};
}

AttrSpec mode_attr() {
  return {"sparse_mode", std::int64_t{0},
          "0, 1: as the mask says; 2: j <= i; 3: j <= i + keys - queries; 4: a band around that",
          [](const AttrValue& value) -> std::string {
            const auto mode = std::get<std::int64_t>(value);
            return mode >= 0 && mode <= 4 ? "" : "it must be 0 to 4";
          }};
}

std::vector<Dims> attention_shapes(const Dims& shape, const Attrs&) {
  if (shape.size() == 3) return {shape, shape, shape};
  // A sequence for each row, with one query and a few keys.
  const std::int64_t last = shape.empty() ? 1 : shape.back();
  const std::int64_t rows = last == 0 ? 0 : element_count(shape) / last;
  return {{rows, 1, last}, {rows, 5, last}, {rows, 5, last}};
}

Op attention() {
  return {
      .name = kName,
      .ir_name = "FusedInferAttentionScore",
      .summary =
          "out = softmax(scale*query*key^T)*value over the visible keys of each sequence, which "
          "may be in pages; a row without keys is 0",
      .source =
          "torch_npu.npu_fused_infer_attention_score; Dao 2023, arXiv:2307.08691; Kwon et al. "
          "2023, arXiv:2309.06180; CANN FusedInferAttentionScore",
      .known_as =
          {.calls = {{"npu_fused_infer_attention_score, FusedInferAttentionScore",
                      "query|0, key|key_0|1, value|value_0|2, atten_mask?, actual_seq_lengths?, "
                      "actual_seq_lengths_kv?, block_table?, query_rope?, key_rope?",
                      "attention_out|result0|0, softmax_lse|result1|1",
                      {.attrs = kRecordedAttrs, .where = kUnknown, .needs = "input_layout"}}},
           .profiled = {{"FusedInferAttentionScore",
                         "query, key, value, , atten_mask, actual_seq_lengths, "
                         "actual_seq_lengths_kv, , , , , , , , block_table, , , , , , , , , , "
                         "query_rope, key_rope",
                         "attention_out, softmax_lse"}},
           .likely = likely_inference_attention},
      .inputs =
          {{"query", "query", {}, unit_data},
           {"key", "key", {}, unit_data},
           {"value", "value", {}, unit_data},
           {.name = "atten_mask",
            .dtypes = {DType::boolean, DType::uint8, DType::int8},
            .data =
                [](const Problem&) {
                  return Distribution{DistributionKind::constant, 0};
                }},
           lengths_spec(
               "actual_seq_lengths",
               [](const Problem& problem) { return lengths_data(problem, kQueryLengths); }),
           lengths_spec("actual_seq_lengths_kv",
                        [](const Problem& problem) { return lengths_data(problem, kKeyLengths); }),
           {.name = "block_table",
            .dtypes = {DType::int32, DType::int64},
            .data = [](const Problem& problem) { return index_data(problem.inputs[1].shape[0]); }},
           {"query_rope", "query_rope", {}, unit_data},
           {"key_rope", "key_rope", {}, unit_data}},
      .outputs = {{"attention_out"}, {"softmax_lse"}},
      .optional_inputs = 6,
      .attrs = {{"num_heads", std::int64_t{1}, "heads of the queries"},
                {"num_key_value_heads", std::int64_t{0}, "heads of keys and values; 0: num_heads"},
                {"scale", 1.0, "factor of the scores"},
                layout_attr(),
                mode_attr(),
                {"pre_tokens", std::int64_t{2147483647}, "width of the band before the diagonal"},
                {"next_tokens", std::int64_t{2147483647}, "width of the band after it"},
                {"softmax_lse_flag", false, "whether the logarithms of the sums are returned"}},
      .dtypes = kArithmeticDTypes,
      .formats = kPlainFormats,
      .infer = infer,
      .reference =
          [](std::span<const InputReader> inputs, const Attrs& attrs) {
            return attention_values(inference_attention_of(descs_of(inputs), attrs), inputs);
          },
      .terms =
          [](std::span<const InputReader> inputs, const Attrs& attrs) {
            return attention_terms(unchecked_problem(find_op(kName), inputs, attrs), inputs);
          },
      .traffic = traffic,
      .inputs_like = attention_shapes,
      .check_values = check_values,
      .mixing = Mixing::other,
      .holds_fp32 = true,
      .takes_functions = true,
      .context = {.needs_fp32 = true},
  };
}

// Keys and values in int8 with scales.
Op quantised() {
  Op op = attention();
  op.name = kQuantisedName;
  op.summary =
      "fused_infer_attention_score with key = key_int8*scale and value likewise; a scale "
      "for each channel or for each key";
  op.source = "torch_npu.npu_fused_infer_attention_score with key_antiquant_mode";
  op.known_as = {
      .calls = {{"npu_fused_infer_attention_score, FusedInferAttentionScore",
                 "query|0, key|key_0|1, value|value_0|2, atten_mask?, actual_seq_lengths?, "
                 "actual_seq_lengths_kv?, block_table?, query_rope?, key_rope?, "
                 "key_antiquant_scale, value_antiquant_scale",
                 "attention_out|result0|0, softmax_lse|result1|1",
                 {.attrs = kQuantisedAttrs,
                  .where = kUnknownOfQuantised,
                  .needs = "input_layout",
                  .turn = 1}}},
      .likely = likely_inference_attention};
  for (const std::size_t i : {kKey, kValue}) {
    op.inputs[i].dtypes = {DType::int8};
    op.inputs[i].data = [](const Problem&) {
      return Distribution{DistributionKind::integers, -127, 127};
    };
  }
  for (const std::string_view name : {"key_antiquant_scale", "value_antiquant_scale"}) {
    op.inputs.push_back({name, name, kArithmeticDTypes, [](const Problem&) {
                           return Distribution{DistributionKind::uniform, 0.005, 0.02};
                         }});
  }
  op.optional_inputs += 2;
  op.attrs.push_back({"key_antiquant_mode", std::int64_t{0},
                      "0: a scale for each channel; 1: for each key",
                      [](const AttrValue& value) -> std::string {
                        const auto mode = std::get<std::int64_t>(value);
                        return mode == 0 || mode == 1 ? "" : "it must be 0 or 1";
                      }});
  op.inputs_like = [](const Dims& shape, const Attrs& attrs) {
    std::vector<Dims> shapes = attention_shapes(shape, attrs);
    shapes.resize(kKeyScale, Dims{0});
    const std::int64_t keys = shapes[1][1];
    const bool by_key = attrs.integer("key_antiquant_mode") == 1;
    shapes.resize(kValueScale + 1, by_key ? Dims{shapes[0][0], keys} : Dims{shapes[1].back()});
    return shapes;
  };
  return op;
}

const RegisteredOp registered{attention()};
const RegisteredOp registered_quantised{quantised()};

}  // namespace

}  // namespace opbench
