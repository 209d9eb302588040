// Sums, means or maxima of rows of a table for each bag.
#include "ops/embedding_bag.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/elementwise.h"
#include "ops/index.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "embedding_bag";

const TensorDesc* weights_of(std::span<const TensorDesc> inputs) {
  return is_given(inputs, 3) ? &inputs[3] : nullptr;
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Dims& weight = inputs[0].shape;
  require_bags(kName, inputs[1], inputs[2], weights_of(inputs), attrs);
  if (weight.size() != 2) {
    throw Error(fmt::format("{}: 'weight' has shape {}; allowed: [rows, columns]", kName,
                            to_string(weight)));
  }
  return {describe(inputs[0].dtype, {bags_of(inputs[2], attrs), weight[1]})};
}

// Sum::terms: a maximum has no other term than itself.
template <Sum kSum>
Reference bag_values(std::span<const InputReader> inputs, const Attrs& attrs) {
  const EmbeddingBags bags(inputs[1], inputs[2], is_given(inputs, 3) ? &inputs[3] : nullptr, attrs);
  const auto columns = static_cast<std::size_t>(inputs[0].desc().shape[1]);
  const std::vector<double> table = inputs[0].read_all();
  std::vector<double> y(bags.bags * columns);
  const auto element = [&](std::size_t i, std::size_t c) {
    return table[static_cast<std::size_t>(bags.indices[i]) * columns + c];
  };
  if (bags.is_max) {
    const std::vector<std::int64_t> greatest = bags.greatest(table, columns);
    for (std::size_t k = 0; k < y.size(); ++k) {
      if (greatest[k] < 0) continue;
      y[k] = summand(kSum, element(static_cast<std::size_t>(greatest[k]), k % columns));
    }
    return elements_of({std::move(y)});
  }
  for (std::size_t i = 0; i < bags.bag_of.size(); ++i) {
    if (!bags.counts[i]) continue;
    double* const to = y.data() + bags.bag_of[i] * columns;
    for (std::size_t c = 0; c < columns; ++c) {
      to[c] += summand(kSum, element(i, c) * bags.factors[i]);
    }
  }
  return elements_of({std::move(y)});
}

Terms terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Reference sums = bag_values<Sum::terms>(inputs, attrs);
  return {.magnitude = sums, .greatest = sums};
}

std::vector<GradientCall> gradient(const Problem& forward) {
  using Arg = GradientArg;
  const Attrs& attrs = forward.attrs;
  const bool is_max = attrs.word("mode") == "max";
  const auto attrs_of = [&](std::string_view op, bool has_rows) {
    std::vector<std::pair<std::string_view, AttrValue>> values = {
        {"padding_idx", attrs.integer("padding_idx")},
        {"include_last_offset", attrs.flag("include_last_offset")}};
    if (has_rows) {
      values.emplace_back("mode", attrs.word("mode"));
      values.emplace_back("num_weights", forward.inputs[0].shape[0]);
    }
    return attrs_with(op, values);
  };
  constexpr std::string_view kTable = "embedding_bag_grad", kWeights = "embedding_bag_weights_grad";
  GradientCall table{kTable,
                     {{Arg::output_gradient, 0}, {Arg::input, 1}, {Arg::input, 2}},
                     {0},
                     attrs_of(kTable, true)};
  if (is_max) table.args.push_back({Arg::input, 0});
  if (!is_given(forward.inputs, 3)) return {table};
  table.args.push_back({Arg::input, 3});
  return {table,
          {kWeights,
           {{Arg::output_gradient, 0}, {Arg::input, 0}, {Arg::input, 1}, {Arg::input, 2}},
           {3},
           attrs_of(kWeights, false)}};
}

Traffic traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  const double products = is_given(problem.inputs, 3) ? 2 : 1;
  traffic.operations =
      products * double(problem.inputs[1].elements() * problem.outputs[0].shape[1]);
  return traffic;
}

std::vector<Dims> inputs_like(const Dims& shape, const Attrs& attrs) {
  const std::int64_t bags = shape.empty() ? 1 : shape[0];
  std::vector<Dims> shapes = {
      shape, {3 * bags}, {bags + (attrs.flag("include_last_offset") ? 1 : 0)}};
  if (attrs.word("mode") == "sum") shapes.push_back({3 * bags});
  return shapes;
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "_embedding_bag",
    .summary = "y[b] = the sum, mean or maximum of weight[indices[i]] over the indices of bag b "
               "other than padding; a sum may have a weight for each index",
    .source = "torch.nn.functional.embedding_bag; CANN EmbeddingBag",
    .known_as = {.calls = {{"_embedding_bag, embedding_bag, _embedding_bag_forward_only",
                            "weight, indices, offsets, per_sample_weights?",
                            "result|result0",
                            {.attrs = "mode: mode as sum|mean|max, padding_idx, "
                                      "include_last_offset",
                             .needs = "mode"}},
                           {"EmbeddingBag",
                            "weight, indices, offsets, per_sample_weights?",
                            "y",
                            {.attrs = "mode, include_last_offset", .needs = "mode"}}}},
    .inputs = {{"weight", "weight", {}, unit_data},
               {.name = "indices",
                .dtypes = kIndexDTypes,
                .data =
                    [](const Problem& problem) { return index_data(problem.inputs[0].shape[0]); }},
               {.name = "offsets", .dtypes = kIndexDTypes, .data = offsets_data<1>},
               {"per_sample_weights", "per_sample_weights", {}, unit_data}},
    .outputs = {{"result"}},
    .optional_inputs = 1,
    .attrs = bag_attrs(),
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer,
    .reference = bag_values<Sum::values>,
    .terms = terms,
    .traffic = traffic,
    .gradient = gradient,
    .inputs_like = inputs_like,
    .check_values =
        [](const Problem& problem, std::span<const InputReader> inputs) {
          check_bags(kName, problem.inputs[0].shape[0], inputs[1], inputs[2], problem.attrs);
        },
    .mixing = Mixing::sums,
}};

}  // namespace

EmbeddingBags::EmbeddingBags(const InputReader& given, const InputReader& offsets,
                             const InputReader* weights, const Attrs& attrs)
    : indices(given.read_index()),
      bags(static_cast<std::size_t>(bags_of(offsets.desc(), attrs))),
      is_max(attrs.word("mode") == "max") {
  const std::vector<std::int64_t> first = offsets.read_index();
  const std::int64_t padding = attrs.integer("padding_idx");
  std::vector<double> sizes(bags);
  bag_of.resize(indices.size());
  for (std::size_t b = 0; b < bags; ++b) {
    const std::int64_t end = b + 1 < first.size() ? first[b + 1] : std::ssize(indices);
    std::fill(bag_of.begin() + first[b], bag_of.begin() + end, b);
  }
  for (std::size_t i = 0; i < indices.size(); ++i) {
    counts.push_back(indices[i] != padding);
    sizes[bag_of[i]] += counts[i] ? 1 : 0;
  }
  if (weights != nullptr) factors = weights->read_all();
  factors.resize(indices.size(), 1);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (!counts[i]) factors[i] = 0;
    if (counts[i] && attrs.word("mode") == "mean") factors[i] /= sizes[bag_of[i]];
  }
}

// Source: ATen's embedding_bag_cpu_max_out: an element replaces another one if it is greater.
std::vector<std::int64_t> EmbeddingBags::greatest(std::span<const double> table,
                                                  std::size_t columns) const {
  std::vector<std::int64_t> places(bags * columns, -1);
  const auto at = [&](std::int64_t i, std::size_t c) {
    return table[static_cast<std::size_t>(indices[static_cast<std::size_t>(i)]) * columns + c];
  };
  for (std::size_t i = 0; i < indices.size(); ++i) {
    for (std::size_t c = 0; counts[i] && c < columns; ++c) {
      std::int64_t& best = places[bag_of[i] * columns + c];
      const auto next = static_cast<std::int64_t>(i);
      if (best < 0 || at(next, c) > at(best, c)) best = next;
    }
  }
  return places;
}

std::int64_t bags_of(const TensorDesc& offsets, const Attrs& attrs) {
  return offsets.shape[0] - (attrs.flag("include_last_offset") ? 1 : 0);
}

void require_bags(std::string_view op, const TensorDesc& indices, const TensorDesc& offsets,
                  const TensorDesc* weights, const Attrs& attrs) {
  if (indices.shape.size() != 1 || offsets.shape.size() != 1) {
    throw Error(fmt::format("{}: 'indices' has shape {} and 'offsets' {}; allowed: one axis each",
                            op, to_string(indices.shape), to_string(offsets.shape)));
  }
  const std::int64_t least = attrs.flag("include_last_offset") ? 1 : 0;
  if (offsets.shape[0] < least || (offsets.shape[0] == least && indices.shape[0] > 0)) {
    throw Error(fmt::format("{}: 'offsets' has shape {}; allowed: the first index of each bag{}",
                            op, to_string(offsets.shape), least == 1 ? " and the end" : ""));
  }
  if (weights == nullptr) return;
  if (weights->shape != indices.shape) {
    throw Error(
        fmt::format("{}: 'per_sample_weights' has shape {}; allowed: {}, one for each index", op,
                    to_string(weights->shape), to_string(indices.shape)));
  }
  if (attrs.word("mode") == "sum") return;
  throw Error(
      fmt::format("{}: 'per_sample_weights' needs mode sum, found {}", op, attrs.word("mode")));
}

void check_bags(std::string_view op, std::int64_t rows, const InputReader& indices,
                const InputReader& offsets, const Attrs& attrs) {
  check_index({op, "indices", rows}, indices.read_index());
  const std::int64_t count = indices.desc().elements();
  std::int64_t last = 0;
  bool is_first = true;
  const std::vector<std::int64_t> values = offsets.read_index();
  for (const std::int64_t offset : values) {
    if (offset < last || offset > count || (is_first && offset != 0)) {
      throw Error(
          fmt::format("{}: 'offsets' has {} after {}; allowed: 0 first, then ascending, at most {}",
                      op, offset, last, count));
    }
    last = offset;
    is_first = false;
  }
  if (attrs.flag("include_last_offset") && last != count) {
    throw Error(fmt::format("{}: 'offsets' ends with {}; allowed: {}, the number of indices", op,
                            last, count));
  }
}

std::vector<AttrSpec> bag_attrs() {
  return {{"mode", std::string("mean"), "of the rows of a bag: sum, mean or max",
           [](const AttrValue& value) -> std::string {
             const auto& word = std::get<std::string>(value);
             const bool is_one = word == "sum" || word == "mean" || word == "max";
             return is_one ? "" : "it must be sum, mean or max";
           }},
          {"padding_idx", std::int64_t{-1}, "index that does not count; -1: none"},
          {"include_last_offset", false, "the last offset is the end of the last bag"}};
}

}  // namespace opbench
