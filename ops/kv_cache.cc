// Keys and values written into caches, bit for bit. A paged cache consists of blocks
// of block_size places; slot s is place s mod block_size of block s / block_size.
#include "ops/kv_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ops/index.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kStore = "scatter_pa_kv_cache", kWrite = "npu_scatter";

[[noreturn]] void refuse(std::string_view op, std::string_view input, const Dims& shape,
                         const std::string& allowed) {
  throw Error(
      fmt::format("{}: '{}' has shape {}; allowed: {}", op, input, to_string(shape), allowed));
}

bool is_fractal(const Attrs& attrs) { return attrs.word("cache_mode") == "PA_NZ"; }

std::vector<TensorDesc> infer_store(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const PagedStore key(inputs, 0, attrs), value(inputs, 1, attrs);
  if (value.blocks != key.blocks || value.block_size != key.block_size) {
    refuse(kStore, "value_cache", inputs[3].shape,
           fmt::format("{} blocks of {} places, those of 'key_cache'", key.blocks, key.block_size));
  }
  return {inputs[2], inputs[3]};
}

// The token of each slot, or -1.
std::vector<std::int64_t> tokens_of_slots(const std::vector<std::int64_t>& slots,
                                          std::int64_t count) {
  std::vector<std::int64_t> token_of(static_cast<std::size_t>(count), -1);
  for (std::size_t token = 0; token < slots.size(); ++token) {
    if (slots[token] >= 0) {
      token_of[static_cast<std::size_t>(slots[token])] = static_cast<std::int64_t>(token);
    }
  }
  return token_of;
}

ExactReference reference_store(std::span<const InputReader> inputs, const Attrs& attrs) {
  const std::vector<TensorDesc> descs = descs_of(inputs);
  const PagedStore stores[] = {{descs, 0, attrs}, {descs, 1, attrs}};
  const std::vector<std::int64_t> slots = inputs[4].read_index();
  const std::vector<std::int64_t> token_of[] = {tokens_of_slots(slots, stores[0].slots()),
                                                tokens_of_slots(slots, stores[1].slots())};
  return moved(inputs, [key = stores[0], value = stores[1], of_key = token_of[0],
                        of_value = token_of[1]](std::size_t output, std::int64_t element) {
    const PagedStore& store = output == 0 ? key : value;
    const PagedStore::Place place = store.place_of(element);
    const std::int64_t token =
        (output == 0 ? of_key : of_value)[static_cast<std::size_t>(place.slot)];
    if (token < 0) return SourceRun{output + 2, element, place.count};
    return SourceRun{output, token * store.row + place.first, place.count};
  });
}

void check_store(const Problem& problem, std::span<const InputReader> inputs) {
  const PagedStore store(problem.inputs, 0, problem.attrs);
  const std::vector<std::int64_t> slots = inputs[4].read_index();
  std::vector<bool> is_used(static_cast<std::size_t>(store.slots()));
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i] == -1) continue;
    const bool is_inside = slots[i] >= 0 && slots[i] < store.slots();
    if (!is_inside || is_used[static_cast<std::size_t>(slots[i])]) {
      throw Error(
          fmt::format("{}: slot_mapping[{}] is {}; allowed: -1 (not stored), and each of 0 "
                      "to {} once",
                      kStore, i, slots[i], store.slots() - 1));
    }
    is_used[static_cast<std::size_t>(slots[i])] = true;
  }
}

std::size_t written_axis(const Dims& self, const Attrs& attrs) {
  return axis_of(kWrite, self, attrs.integer("dim"));
}

std::vector<TensorDesc> infer_write(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Dims &self = inputs[0].shape, &index = inputs[1].shape, &updates = inputs[2].shape;
  const std::size_t axis = written_axis(self, attrs);
  if (axis == 0) throw Error(fmt::format("{}: dim is 0; allowed: an axis after the first", kWrite));
  if (index != Dims{self[0]}) refuse(kWrite, "indices", index, std::to_string(self[0]));
  Dims allowed = self;
  if (updates.size() == self.size()) allowed[axis] = std::min(self[axis], updates[axis]);
  if (updates != allowed) {
    refuse(kWrite, "updates", updates,
           fmt::format("{}, or less on axis {}", to_string(self), axis));
  }
  return {inputs[0]};
}

ExactReference reference_write(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Dims& self = inputs[0].desc().shape;
  const std::size_t axis = written_axis(self, attrs);
  const AxisView to(self, axis), from(inputs[2].desc().shape, axis);
  return moved(
      inputs, [=, each = std::max<std::int64_t>(1, to.outer / std::max<std::int64_t>(1, self[0])),
               index = inputs[1].read_index()](std::size_t, std::int64_t element) {
        const std::int64_t line = element / to.inner, inside = element % to.inner;
        const std::int64_t outer = line / to.extent, place = line % to.extent;
        const std::int64_t update = place - index[static_cast<std::size_t>(outer / each)];
        if (update < 0 || update >= from.extent) return SourceRun{0, element, to.inner - inside};
        return SourceRun{2, (outer * from.extent + update) * to.inner + inside, to.inner - inside};
      });
}

std::int64_t last_first(const Problem& problem) {
  const std::size_t axis = written_axis(problem.inputs[0].shape, problem.attrs);
  return problem.inputs[0].shape[axis] - problem.inputs[2].shape[axis] + 1;
}

AttrSpec cache_mode_attr() {
  return {"cache_mode", std::string("Norm"),
          "Norm: caches [blocks, block_size, heads, elements]; PA_NZ: [blocks, elements of a token "
          "/ c0, block_size, c0] with c0 of 32 bytes",
          [](const AttrValue& value) -> std::string {
            const auto& word = std::get<std::string>(value);
            return word == "Norm" || word == "PA_NZ" ? "" : "it must be Norm or PA_NZ";
          }};
}

const RegisteredOp registered_store{{
    .name = kStore,
    .ir_name = "ScatterPaKvCache",
    .summary = "row t of key and value written to slot slot_mapping[t] of paged caches; slot -1 is "
               "skipped",
    .source = "torch_npu.npu_scatter_pa_kv_cache; vLLM reshape_and_cache; CANN ScatterPaKvCache",
    .known_as =
        {.calls = {{"npu_scatter_pa_kv_cache, ScatterPaKvCache",
                    "key|0, value|1, key_cache|2, value_cache|3, slot_mapping|4",
                    "key_cache|result0|0, value_cache|result1|1",
                    {.attrs = "cache_mode: cache_mode as Norm|PA_NZ"}},
                   {"reshape_and_cache, _npu_reshape_and_cache",
                    "key|0, value|1, key_cache|2, value_cache|3, slot_mapping|slot_indices|4",
                    "key_cache|0, value_cache|1"}},
         .profiled = {{"ScatterPaKvCache", "key, key_cache, slot_mapping, value, value_cache",
                       "key_cache, value_cache"}},
         .likely =
             [](const Shapes&, const Shapes&) {
               return LikelyAttrs{{{"cache_mode", {0}}}, {{"cache_mode", {1}}}};
             }},
    .inputs = {{"key"},
               {"value"},
               {"key_cache"},
               {"value_cache"},
               {.name = "slot_mapping",
                .dtypes = kIndexDTypes,
                .data =
                    [](const Problem&) { return Distribution{DistributionKind::permutation}; }}},
    .outputs = {{"key_cache_out", "key_cache"}, {"value_cache_out", "value_cache"}},
    .attrs = {cache_mode_attr()},
    .dtypes = kMovableDTypes,
    .formats = kPlainFormats,
    .accuracy = AccuracyClass::exact,
    .infer = infer_store,
    .exact_reference = reference_store,
    .traffic = movement_traffic,
    .inputs_like =
        [](const Dims& shape, const Attrs&) {
          // Two places more than there are tokens, in blocks of one.
          const std::int64_t tokens = shape.empty() ? 1 : shape[0];
          Dims cache = {tokens + 2, 1};
          if (!shape.empty()) cache.insert(cache.end(), shape.begin() + 1, shape.end());
          return std::vector<Dims>{shape, shape, cache, cache, {tokens}};
        },
    .check_values = check_store,
}};

const RegisteredOp registered_write{{
    .name = kWrite,
    .ir_name = "npu_scatter",
    .summary = "y = self, then y[b][.., indices[b] + k, ..] = updates[b][.., k, ..] along an axis",
    .source = "torch_npu.npu_scatter; CANN Scatter",
    .known_as = {.calls = {{"npu_scatter, Scatter",
                            "self|var|0, indices|1, updates|2",
                            "result|var|out|0",
                            {.attrs = "dim: dim|axis|3"}}},
                 .profiled = {{"Scatter", "var, indices, updates", "var"}}},
    .inputs = {{"self"},
               {.name = "indices",
                .dtypes = kIndexDTypes,
                .data = [](const Problem& problem) { return index_data(last_first(problem)); }},
               {"updates"}},
    .outputs = {{"result"}},
    .attrs = {{"dim", std::int64_t{-2}, "the axis that the indices count along"}},
    .dtypes = kMovableDTypes,
    .formats = kPlainFormats,
    .accuracy = AccuracyClass::exact,
    .infer = infer_write,
    .exact_reference = reference_write,
    .traffic = movement_traffic,
    .inputs_like =
        [](const Dims& shape, const Attrs& attrs) {
          Dims updates = shape;
          if (shape.size() > 1) {
            std::int64_t& extent = updates[written_axis(shape, attrs)];
            extent = std::min<std::int64_t>(1, extent);
          }
          return std::vector<Dims>{shape, {shape.empty() ? 1 : shape[0]}, updates};
        },
    .check_values =
        [](const Problem& problem, std::span<const InputReader> inputs) {
          check_index({kWrite, "indices", last_first(problem)}, inputs[1].read_index());
        },
}};

}  // namespace

PagedStore::PagedStore(std::span<const TensorDesc> inputs, std::size_t which, const Attrs& attrs) {
  const Dims &x = inputs[which].shape, &cache = inputs[which + 2].shape;
  const std::string_view name = which == 0 ? "key" : "value";
  if (x.empty()) refuse(kStore, name, x, "[tokens, ...]");
  row = std::accumulate(x.begin() + 1, x.end(), std::int64_t{1}, std::multiplies<>());
  const auto c0 = static_cast<std::int64_t>(32 / size_of(inputs[which].dtype));
  if (is_fractal(attrs)) {
    const bool fits = cache.size() == 4 && cache[3] == c0 && cache[1] * c0 == row;
    if (!fits) {
      refuse(kStore, which == 0 ? "key_cache" : "value_cache", cache,
             fmt::format("[blocks, {}/{}, block_size, {}]", row, c0, c0));
    }
    parts = cache[1];
  } else if (cache.size() != x.size() + 1 ||
             !std::equal(x.begin() + 1, x.end(), cache.begin() + 2)) {
    refuse(kStore, which == 0 ? "key_cache" : "value_cache", cache,
           fmt::format("[blocks, block_size, ...] with the last extents of '{}'", name));
  }
  blocks = cache[0];
  block_size = cache[is_fractal(attrs) ? 2 : 1];
  if (inputs[4].shape != Dims{x[0]}) {
    refuse(kStore, "slot_mapping", inputs[4].shape, std::to_string(x[0]));
  }
}

}  // namespace opbench
