// Keys and values of sequences read from a paged cache, bit for bit.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "ops/index.h"
#include "ops/kv_cache.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kFetch = "gather_pa_kv_cache";

[[noreturn]] void refuse(std::string_view input, const Dims& shape, const std::string& allowed) {
  throw Error(
      fmt::format("{}: '{}' has shape {}; allowed: {}", kFetch, input, to_string(shape), allowed));
}

std::vector<TensorDesc> infer_fetch(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  for (const std::size_t i : {0, 1}) {
    const Dims &cache = inputs[i].shape, &to = inputs[i + 4].shape;
    if (cache.size() < 3)
      refuse(i == 0 ? "key_cache" : "value_cache", cache, "[blocks, block_size, ...]");
    if (to.size() + 1 == cache.size() && std::equal(to.begin() + 1, to.end(), cache.begin() + 2)) {
      continue;
    }
    refuse(i == 0 ? "key" : "value", to, "[tokens, ...] with the last extents of its cache");
  }
  const bool has_like_blocks =
      std::equal(inputs[0].shape.begin(), inputs[0].shape.begin() + 2, inputs[1].shape.begin());
  if (!has_like_blocks || inputs[4].shape[0] != inputs[5].shape[0]) {
    throw Error(fmt::format("{}: keys and values have different tokens or blocks", kFetch));
  }
  const Dims &table = inputs[2].shape, &lengths = inputs[3].shape;
  if (table.size() != 2) refuse("block_tables", table, "[sequences, blocks]");
  const std::int64_t count = table[0] + (attrs.flag("is_seq_lens_cumsum") ? 1 : 0);
  if (lengths != Dims{count}) refuse("seq_lens", lengths, std::to_string(count));
  if (is_given(inputs, 6) && inputs[6].shape != Dims{table[0]}) {
    refuse("seq_offset", inputs[6].shape, std::to_string(table[0]));
  }
  return {inputs[4], inputs[5]};
}

ExactReference reference_fetch(std::span<const InputReader> inputs, const Attrs& attrs) {
  const PagedSequences sequences(inputs, attrs);
  const auto row_of = [&](std::size_t i) {
    const Dims& cache = inputs[i].desc().shape;
    return std::accumulate(cache.begin() + 2, cache.end(), std::int64_t{1}, std::multiplies<>());
  };
  return moved(inputs, [slot_of = sequences.slots(), rows = std::array{row_of(0), row_of(1)}](
                           std::size_t output, std::int64_t element) {
    const std::int64_t row = rows[output], token = element / row, inside = element % row;
    const SourceRun old{output + 4, element, row - inside};
    if (token >= std::ssize(slot_of)) return old;
    return SourceRun{output, slot_of[static_cast<std::size_t>(token)] * row + inside, row - inside};
  });
}

void check_fetch(const Problem& problem, std::span<const InputReader> inputs) {
  const std::vector<std::int64_t> slots = PagedSequences(inputs, problem.attrs).slots();
  if (std::ssize(slots) <= problem.inputs[4].shape[0]) return;
  throw Error(fmt::format("{}: seq_lens has {} tokens; allowed: at most {}, those of 'key'", kFetch,
                          slots.size(), problem.inputs[4].shape[0]));
}

Traffic traffic_fetch(const Problem& problem) {
  Traffic traffic;
  for (const TensorDesc& output : problem.outputs) traffic.bytes_written += double(output.bytes());
  traffic.bytes_read =
      traffic.bytes_written + double(problem.inputs[2].bytes() + problem.inputs[3].bytes());
  return traffic;
}

// The tokens of key divided equally, as far as the blocks of a sequence hold them.
Distribution lengths_of(const Problem& problem) {
  const Dims& table = problem.inputs[2].shape;
  const std::int64_t held = table[1] * problem.inputs[0].shape[1];
  const std::int64_t share = problem.inputs[4].shape[0] / std::max<std::int64_t>(1, table[0]);
  const double each = double(std::min(held, share));
  if (problem.attrs.flag("is_seq_lens_cumsum")) return {DistributionKind::arange, 0, each};
  return {DistributionKind::constant, each};
}

const RegisteredOp registered{{
    .name = kFetch,
    .ir_name = "GatherPaKvCache",
    .summary = "the rows of all sequences of paged caches, sequence after sequence, written over "
               "the first rows of key and value",
    .source = "torch_npu.npu_gather_pa_kv_cache; vLLM gather_cache; CANN GatherPaKvCache",
    .known_as =
        {.calls = {{"npu_gather_pa_kv_cache, GatherPaKvCache",
                    "key_cache|0, value_cache|1, block_tables|2, seq_lens|3, key|4, value|5, "
                    "seq_offset?",
                    "key|result0|0, value|result1|1",
                    {.attrs = "is_seq_lens_cumsum"}}},
         .profiled = {{"GatherPaKvCache",
                       "key_cache, value_cache, block_tables, seq_lens, key, value, seq_offset",
                       "key, value"}}},
    .inputs = {{"key_cache"},
               {"value_cache"},
               {.name = "block_tables",
                .dtypes = kIndexDTypes,
                .data =
                    [](const Problem& problem) { return index_data(problem.inputs[0].shape[0]); }},
               {.name = "seq_lens", .dtypes = kIndexDTypes, .data = lengths_of},
               {"key"},
               {"value"},
               {.name = "seq_offset",
                .dtypes = kIndexDTypes,
                .data =
                    [](const Problem&) {
                      return Distribution{DistributionKind::constant, 0};
                    }}},
    .outputs = {{"key_out", "key"}, {"value_out", "value"}},
    .optional_inputs = 1,
    .attrs = {{"is_seq_lens_cumsum", false, "seq_lens has running totals, 0 first"}},
    .dtypes = kMovableDTypes,
    .formats = kPlainFormats,
    .accuracy = AccuracyClass::exact,
    .infer = infer_fetch,
    .exact_reference = reference_fetch,
    .traffic = traffic_fetch,
    .inputs_like =
        [](const Dims& shape, const Attrs& attrs) {
          // One sequence in blocks of two.
          const std::int64_t tokens = shape.empty() ? 1 : shape[0];
          Dims cache = {tokens + 1, 2};
          if (!shape.empty()) cache.insert(cache.end(), shape.begin() + 1, shape.end());
          const std::int64_t lengths = attrs.flag("is_seq_lens_cumsum") ? 2 : 1;
          return std::vector<Dims>{cache, cache, {1, tokens / 2 + 1}, {lengths}, shape, shape};
        },
    .check_values = check_fetch,
}};

}  // namespace

PagedSequences::PagedSequences(std::span<const InputReader> inputs, const Attrs& attrs)
    : blocks(inputs[0].desc().shape[0]),
      block_size(inputs[0].desc().shape[1]),
      most_blocks(inputs[2].desc().shape[1]),
      table(inputs[2].read_index()),
      counts(inputs[3].read_index()),
      offsets(static_cast<std::size_t>(inputs[2].desc().shape[0])) {
  if (attrs.flag("is_seq_lens_cumsum")) {
    for (std::size_t i = 0; i + 1 < counts.size(); ++i) counts[i] = counts[i + 1] - counts[i];
    counts.pop_back();
  }
  if (is_given(inputs, 6)) offsets = inputs[6].read_index();
}

std::vector<std::int64_t> PagedSequences::slots() const {
  std::vector<std::int64_t> all;
  for (std::size_t b = 0; b < counts.size(); ++b) {
    const std::int64_t held = most_blocks * block_size;
    if (counts[b] < 0 || offsets[b] < 0 || offsets[b] > held || counts[b] > held - offsets[b]) {
      throw Error(
          fmt::format("{}: sequence {} has {} tokens from {} on; allowed: up to {}, those of "
                      "its row of 'block_tables'",
                      kFetch, b, counts[b], offsets[b], held));
    }
    for (std::int64_t t = offsets[b]; t < offsets[b] + counts[b]; ++t) {
      const auto at =
          b * static_cast<std::size_t>(most_blocks) + static_cast<std::size_t>(t / block_size);
      if (table[at] < 0 || table[at] >= blocks) {
        throw Error(fmt::format("{}: block_tables[{}] is {}; allowed: 0 to {}", kFetch, at,
                                table[at], blocks - 1));
      }
      all.push_back(table[at] * block_size + t % block_size);
    }
  }
  return all;
}

}  // namespace opbench
