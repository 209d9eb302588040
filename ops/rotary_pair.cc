// Rotary position embedding of query and key together: with given angles, and with angles from a
// table by position.
#include "ops/rotary_pair.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ops/elementwise.h"
#include "ops/index.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "apply_rotary_pos_emb", kTableName = "mrope";

/// Query and key have outputs of their own.
Reference of_pair(Reference query, Reference key) {
  return [query = std::move(query), key = std::move(key)](std::size_t output, ElementRange range,
                                                          std::span<double> to) {
    (output == 0 ? query : key)(0, range, to);
  };
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  for (const std::size_t i : {0, 1}) require_rotary_angles(kName, inputs[i], inputs[2], inputs[3]);
  require_rotary_extent(kName, "cos", inputs[2].shape.back(), rotary_mode(attrs));
  return {inputs[0], inputs[1]};
}

template <Sum kSum>
Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const auto of = [&](const InputReader& x) {
    const auto extent = static_cast<std::size_t>(inputs[2].desc().shape.back());
    return rotated(x, x.desc().shape.back(), rotary_places(rotary_mode(attrs), extent),
                   broadcast_angles(x.desc().shape, inputs[2], inputs[3]), kSum);
  };
  return of_pair(of(inputs[0]), of(inputs[1]));
}

std::vector<TensorDesc> infer_table(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const RotaryTable of(inputs, attrs);
  return {inputs[1], inputs[2]};
}

template <Sum kSum>
Reference reference_table(std::span<const InputReader> inputs, const Attrs& attrs) {
  const RotaryTable of(descs_of(inputs), attrs);
  const std::vector<std::int64_t> positions = inputs[0].read_index();
  const auto reference_of = [&](const InputReader& x) {
    const std::int64_t heads = of.heads(x.desc().shape);
    const auto angles = [of, positions, heads, table = inputs[3]](
                            std::int64_t line, std::span<double> cos, std::span<double> sin) {
      const std::int64_t token = line / heads;
      std::vector<double> row(cos.size());
      for (std::int64_t axis = 0; axis < of.axes; ++axis) {
        const std::int64_t position = positions[static_cast<std::size_t>(axis * of.tokens + token)];
        table.read({position * of.extent, of.extent}, row);
        for (std::size_t i = 0; i < cos.size(); ++i) {
          const auto pair = static_cast<std::size_t>(of.pair_of(static_cast<std::int64_t>(i)));
          if (of.axis_of_pair[pair] != axis) continue;
          cos[i] = row[pair];
          sin[i] = row[cos.size() / 2 + pair];
        }
      }
    };
    return rotated(x, of.width, rotary_places(of.mode, static_cast<std::size_t>(of.extent)), angles,
                   kSum);
  };
  return of_pair(reference_of(inputs[1]), reference_of(inputs[2]));
}

template <Reference (*kReference)(std::span<const InputReader>, const Attrs&)>
Terms terms_by(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Reference terms = kReference(inputs, attrs);
  return {.magnitude = terms, .greatest = terms};
}

// Three operations for every element of query and key.
Traffic traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  for (const TensorDesc& output : problem.outputs) {
    traffic.operations += 3 * double(output.elements());
  }
  return traffic;
}

// Rows of the table that no token uses are not read.
Traffic traffic_table(const Problem& problem) {
  Traffic traffic = opbench::traffic(problem);
  const TensorDesc& table = problem.inputs[3];
  const double used = double(problem.inputs[0].elements() * table.shape[1]);
  traffic.bytes_read -= double(table.bytes());
  traffic.bytes_read += std::min(double(table.bytes()), used * double(size_of(table.dtype)));
  return traffic;
}

AttrSpec cache_mode_attr() {
  return {"cache_mode", std::string("default"),
          "default: the sections of the pairs follow each other; interleave: they alternate",
          [](const AttrValue& value) -> std::string {
            const auto& word = std::get<std::string>(value);
            return word == "default" || word == "interleave" ? ""
                                                             : "it must be default or interleave";
          }};
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "ApplyRotaryPosEmb",
    .summary = "query and key rotated by the same cos and sin; elements after those of cos are "
               "copied",
    .source = "torch_npu.npu_apply_rotary_pos_emb; CANN ApplyRotaryPosEmb",
    .known_as = {.calls = {{"npu_apply_rotary_pos_emb, ApplyRotaryPosEmb",
                            "query|0, key|1, cos|2, sin|3",
                            "query|result0|0, key|result1|1",
                            {.attrs = kRecordedRotaryMode}}},
                 .profiled = {{"ApplyRotaryPosEmb", "query, key, cos, sin", "query, key"}}},
    .inputs =
        {{"query"}, {"key"}, {"cos", "cos", {}, rotary_data}, {"sin", "sin", {}, rotary_data}},
    .outputs = {{"query_out", "query"}, {"key_out", "key"}},
    .attrs = {rotary_mode_attr()},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer,
    .reference = reference<Sum::values>,
    .terms = terms_by<reference<Sum::terms>>,
    .traffic = traffic,
    .inputs_like =
        [](const Dims& shape, const Attrs&) {
          return std::vector<Dims>{shape, shape, usual_angles(shape), usual_angles(shape)};
        },
}};

const RegisteredOp registered_table{{
    .name = kTableName,
    .ir_name = "RopeWithSinCosCache",
    .summary = "query and key rotated by rows of a table of cos and sin; with several axes of "
               "positions each pair takes its angle from one of them",
    .source = "torch_npu.npu_mrope; Wang et al. 2024, arXiv:2409.12191; CANN RopeWithSinCosCache",
    .known_as = {.calls = {{"npu_mrope, RopeWithSinCosCache",
                            "positions|0, query|queryIn|query_in|1, key|keyIn|key_in|2, "
                            "cos_sin_cache|cosSinCache|3",
                            "result0|query_out|0, result1|key_out|1",
                            {.attrs = "head_size: head_size|headSize|4, mrope_section: "
                                      "mrope_section|mropeSection, mode: rotary_mode as "
                                      "half|interleave|quarter|interleave-half, cache_mode: "
                                      "cache_mode as Norm|PA_NZ|default|interleave"}}},
                 .profiled = {{"RopeWithSinCosCache", "positions, query_in, key_in, cos_sin_cache",
                               "query_out, key_out"}}},
    .inputs = {{.name = "positions",
                .dtypes = kIndexDTypes,
                .data =
                    [](const Problem& problem) { return index_data(problem.inputs[3].shape[0]); }},
               {"query"},
               {"key"},
               {"cos_sin_cache", "cos_sin_cache", {}, rotary_data}},
    .outputs = {{"query_out"}, {"key_out"}},
    .attrs = {{"head_size", std::int64_t{0}, "elements of a head; 0: as many as the table has"},
              rotary_mode_attr(),
              {"mrope_section", std::vector<std::int64_t>{},
               "pairs that take their angle from each axis of the positions"},
              cache_mode_attr()},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer_table,
    .reference = reference_table<Sum::values>,
    .terms = terms_by<reference_table<Sum::terms>>,
    .traffic = traffic_table,
    .inputs_like =
        [](const Dims& shape, const Attrs& attrs) {
          const std::int64_t tokens = shape.empty() ? 1 : shape[0];
          const std::int64_t head = attrs.integer("head_size");
          const std::int64_t extent = head > 0 || shape.empty() ? head : shape.back();
          return std::vector<Dims>{{tokens}, shape, shape, {tokens + 1, extent}};
        },
    .check_values =
        [](const Problem& problem, std::span<const InputReader> inputs) {
          check_index({kTableName, "positions", problem.inputs[3].shape[0]},
                      inputs[0].read_index());
        },
}};

}  // namespace

RotaryTable::RotaryTable(std::span<const TensorDesc> inputs, const Attrs& attrs)
    : mode(rotary_mode(attrs)) {
  const Dims &positions = inputs[0].shape, &table = inputs[3].shape;
  const auto refuse = [](std::string_view input, const Dims& shape, std::string_view allowed) {
    throw Error(fmt::format("{}: '{}' has shape {}; allowed: {}", kTableName, input,
                            to_string(shape), allowed));
  };
  if (positions.empty() || positions.size() > 2)
    refuse("positions", positions, "[tokens], [axes, tokens]");
  if (table.size() != 2) refuse("cos_sin_cache", table, "[positions, rotated elements]");
  if (mode != RotaryMode::half && mode != RotaryMode::interleave) {
    throw Error(
        fmt::format("{}: mode is '{}'; allowed: half, interleave", kTableName, attrs.word("mode")));
  }
  axes = positions.size() == 2 ? positions[0] : 1;
  tokens = positions.back();
  extent = table[1];
  width = attrs.integer("head_size") > 0 ? attrs.integer("head_size") : extent;
  require_rotary_extent(kTableName, "cos_sin_cache", extent, mode);
  if (extent > width) {
    refuse("cos_sin_cache", table, fmt::format("at most the {} elements of a head", width));
  }
  for (const std::size_t i : {1, 2}) {
    const Dims& x = inputs[i].shape;
    if (x.size() == 2 && x[0] == tokens && width > 0 && x[1] % width == 0) continue;
    refuse(i == 1 ? "query" : "key", x, fmt::format("[{}, a multiple of {}]", tokens, width));
  }
  axis_of_pair.assign(static_cast<std::size_t>(extent / 2), 0);
  if (positions.size() == 1) return;
  const std::vector<std::int64_t>& sections = attrs.list("mrope_section");
  const bool has_pairs = std::all_of(sections.begin(), sections.end(), [&](std::int64_t count) {
    return count >= 0 && count <= extent / 2;
  });
  if (!has_pairs || std::ssize(sections) != axes ||
      std::accumulate(sections.begin(), sections.end(), std::int64_t{0}) != extent / 2) {
    throw Error(
        fmt::format("{}: mrope_section is {}; allowed: {} numbers from 0 on with the sum {}",
                    kTableName, to_string(AttrValue(sections)), axes, extent / 2));
  }
  const bool alternates = attrs.word("cache_mode") == "interleave";
  std::int64_t first = 0;
  for (std::int64_t axis = 0; axis < axes; ++axis) {
    const std::int64_t count = sections[static_cast<std::size_t>(axis)];
    for (std::int64_t i = 0; i < count && !alternates; ++i) {
      axis_of_pair[static_cast<std::size_t>(first + i)] = axis;
    }
    first += count;
  }
  if (!alternates) return;
  // Every third pair belongs to axis 1, the next ones to axis 2, both up to three times the section
  // of axis 1.
  for (std::int64_t i = 0; axes > 2 && i < std::min(3 * sections[1], extent / 2); ++i) {
    axis_of_pair[static_cast<std::size_t>(i)] = i % 3;
  }
}

}  // namespace opbench
