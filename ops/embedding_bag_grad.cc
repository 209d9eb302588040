// The gradients of embedding_bag: of the table, and of the weights of indices.
#include <fmt/format.h>

#include <cmath>

#include "ops/elementwise.h"
#include "ops/embedding_bag.h"
#include "ops/index.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "embedding_bag_grad",
                           kWeightsName = "embedding_bag_weights_grad";
constexpr std::size_t kExtra = 3;  // per_sample_weights of a sum, the table of a maximum

void require_rows(std::string_view op, const TensorDesc& dy, std::int64_t bags) {
  if (dy.shape.size() == 2 && dy.shape[0] == bags) return;
  throw Error(
      fmt::format("{}: 'grad_output' has shape {}; allowed: [{}, columns], a row for "
                  "each bag",
                  op, to_string(dy.shape), bags));
}

bool is_max(const Attrs& attrs) { return attrs.word("mode") == "max"; }

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const bool has_extra = is_given(inputs, kExtra);
  const bool has_weights = has_extra && !is_max(attrs);
  require_bags(kName, inputs[1], inputs[2], has_weights ? &inputs[kExtra] : nullptr, attrs);
  require_rows(kName, inputs[0], bags_of(inputs[2], attrs));
  const Dims table = {attrs.integer("num_weights"), inputs[0].shape[1]};
  if (is_max(attrs) && (!has_extra || inputs[kExtra].shape != table)) {
    throw Error(fmt::format("{}: mode max needs the table of shape {} as the last input", kName,
                            to_string(table)));
  }
  return {describe(inputs[0].dtype, table)};
}

template <Sum kSum>
Reference table_gradient(std::span<const InputReader> inputs, const Attrs& attrs) {
  const bool has_weights = is_given(inputs, kExtra) && !is_max(attrs);
  const EmbeddingBags bags(inputs[1], inputs[2], has_weights ? &inputs[kExtra] : nullptr, attrs);
  const auto columns = static_cast<std::size_t>(inputs[0].desc().shape[1]);
  const std::vector<double> dy = inputs[0].read_all();
  std::vector<double> sums(static_cast<std::size_t>(attrs.integer("num_weights")) * columns);
  const auto add = [&](std::size_t i, std::size_t c) {
    sums[static_cast<std::size_t>(bags.indices[i]) * columns + c] +=
        summand(kSum, dy[bags.bag_of[i] * columns + c] * bags.factors[i]);
  };
  if (bags.is_max) {
    const std::vector<std::int64_t> greatest = bags.greatest(inputs[kExtra].read_all(), columns);
    for (std::size_t k = 0; k < greatest.size(); ++k) {
      if (greatest[k] >= 0) add(static_cast<std::size_t>(greatest[k]), k % columns);
    }
    return elements_of({std::move(sums)});
  }
  for (std::size_t i = 0; i < bags.indices.size(); ++i) {
    for (std::size_t c = 0; bags.counts[i] && c < columns; ++c) add(i, c);
  }
  return elements_of({std::move(sums)});
}

std::vector<TensorDesc> infer_weights(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  require_bags(kWeightsName, inputs[2], inputs[3], nullptr, attrs);
  require_rows(kWeightsName, inputs[0], bags_of(inputs[3], attrs));
  const Dims& table = inputs[1].shape;
  if (table.size() != 2 || table[1] != inputs[0].shape[1]) {
    throw Error(fmt::format("{}: 'weight' has shape {}; allowed: [rows, {}]", kWeightsName,
                            to_string(table), inputs[0].shape[1]));
  }
  return {describe(inputs[0].dtype, inputs[2].shape)};
}

template <Sum kSum>
Reference weights_gradient(std::span<const InputReader> inputs, const Attrs& attrs) {
  const EmbeddingBags bags(inputs[2], inputs[3], nullptr, attrs);
  const auto columns = static_cast<std::size_t>(inputs[0].desc().shape[1]);
  const std::vector<double> dy = inputs[0].read_all(), table = inputs[1].read_all();
  std::vector<double> sums(bags.indices.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const double* const row = table.data() + static_cast<std::size_t>(bags.indices[i]) * columns;
    for (std::size_t c = 0; bags.counts[i] && c < columns; ++c) {
      sums[i] += summand(kSum, dy[bags.bag_of[i] * columns + c] * row[c]);
    }
  }
  return elements_of({std::move(sums)});
}

template <auto kReference>
Terms magnitude_of(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Reference sums = kReference(inputs, attrs);
  return {.magnitude = sums, .greatest = sums};
}

Traffic traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  const double products = is_given(problem.inputs, kExtra) ? 2 : 1;
  traffic.operations =
      products * double(problem.inputs[1].elements() * problem.outputs[0].shape[1]);
  return traffic;
}

std::vector<AttrSpec> grad_attrs() {
  std::vector<AttrSpec> attrs = bag_attrs();
  attrs.insert(attrs.begin() + 1,
               {"num_weights", std::int64_t{256}, "rows of the table",
                [](const AttrValue& value) -> std::string {
                  return std::get<std::int64_t>(value) >= 0 ? "" : "it must be 0 or more";
                }});
  return attrs;
}

std::vector<AttrSpec> weights_attrs() {
  std::vector<AttrSpec> attrs = bag_attrs();
  attrs[0] = {"mode", std::string("sum"), "of the rows of a bag: sum",
              [](const AttrValue& value) -> std::string {
                return std::get<std::string>(value) == "sum" ? "" : "it must be sum";
              }};
  return attrs;
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "EmbeddingBagBackward",
    .summary = "dweight[r] = the sum of dy[b], times its weight or over the size of the bag in "
               "means, where an index of bag b is r, and in maxima names the greatest element",
    .source = "torch.nn.functional.embedding_bag backward",
    .known_as = {.calls = {{"EmbeddingBagBackward",
                            "grads/grads_0, indices, offsets, weight",
                            "grad_inputs/grad_inputs_0",
                            {.attrs = "mode: mode as sum|mean|max, num_weights: rows of weight, "
                                      "padding_idx, include_last_offset",
                             .where = "scale_grad_by_freq: 0, sparse: 0",
                             .only = "mode: 2"}},
                           {"EmbeddingBagBackward",
                            "grads/grads_0, indices, offsets, per_sample_weights?",
                            "grad_inputs/grad_inputs_0",
                            {.attrs = "mode: mode as sum|mean|max, num_weights: rows of "
                                      "grad_inputs/grad_inputs_0, padding_idx, "
                                      "include_last_offset",
                             .where = "scale_grad_by_freq: 0, sparse: 0, mode: 0 1",
                             .needs = "mode"}}}},
    .inputs = {{"grad_output", "grads/grads_0", {}, unit_data},
               {.name = "indices",
                .dtypes = kIndexDTypes,
                .data =
                    [](const Problem& problem) {
                      return index_data(problem.attrs.integer("num_weights"));
                    }},
               {.name = "offsets", .dtypes = kIndexDTypes, .data = offsets_data<1>},
               {"per_sample_weights", "per_sample_weights", {}, unit_data}},
    .outputs = {{"grad_weight", "grad_inputs/grad_inputs_0"}},
    .optional_inputs = 1,
    .attrs = grad_attrs(),
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer,
    .reference = table_gradient<Sum::values>,
    .terms = magnitude_of<table_gradient<Sum::terms>>,
    .traffic = traffic,
    .inputs_like =
        [](const Dims& shape, const Attrs& attrs) {
          const std::int64_t bags = shape.empty() ? 1 : shape[0];
          std::vector<Dims> shapes = {
              shape, {3 * bags}, {bags + (attrs.flag("include_last_offset") ? 1 : 0)}};
          if (attrs.word("mode") == "sum") shapes.push_back({3 * bags});
          if (is_max(attrs)) {
            shapes.push_back({attrs.integer("num_weights"), shape.empty() ? 1 : shape.back()});
          }
          return shapes;
        },
    .check_values =
        [](const Problem& problem, std::span<const InputReader> inputs) {
          check_bags(kName, problem.attrs.integer("num_weights"), inputs[1], inputs[2],
                     problem.attrs);
        },
    .mixing = Mixing::sums,
}};

const RegisteredOp registered_weights{{
    .name = kWeightsName,
    .ir_name = "_embedding_bag_per_sample_weights_backward",
    .summary =
        "the gradient of the weight of index i in bag b: the sum of dy[b]*weight[indices[i]]",
    .source = "torch.nn.functional.embedding_bag backward, per_sample_weights",
    .known_as =
        {.calls = {{"EmbeddingBagBackward",
                    "grads/grads_0, weight, indices, offsets",
                    "grad_inputs/grad_inputs_3",
                    {.attrs = "padding_idx, include_last_offset", .where = "mode: 0", .turn = 1}},
                   {"_embedding_bag_per_sample_weights_backward",
                    "grad, weight, indices, offsets",
                    "result",
                    {.attrs = "padding_idx", .where = "mode: 0"}}}},
    .inputs = {{"grad_output", "grads/grads_0", {}, unit_data},
               {"weight", "weight", {}, unit_data},
               {.name = "indices",
                .dtypes = kIndexDTypes,
                .data =
                    [](const Problem& problem) { return index_data(problem.inputs[1].shape[0]); }},
               {.name = "offsets", .dtypes = kIndexDTypes, .data = offsets_data<2>}},
    .outputs = {{"grad_weights", "grad_inputs/grad_inputs_3"}},
    .attrs = weights_attrs(),
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer_weights,
    .reference = weights_gradient<Sum::values>,
    .terms = magnitude_of<weights_gradient<Sum::terms>>,
    .traffic =
        [](const Problem& problem) {
          Traffic traffic = movement_traffic(problem);
          traffic.operations =
              2 * double(problem.inputs[2].elements() * problem.inputs[0].shape[1]);
          return traffic;
        },
    .inputs_like =
        [](const Dims& shape, const Attrs& attrs) {
          const std::int64_t bags = shape.empty() ? 1 : shape[0];
          return std::vector<Dims>{
              shape, shape, {3 * bags}, {bags + (attrs.flag("include_last_offset") ? 1 : 0)}};
        },
    .check_values =
        [](const Problem& problem, std::span<const InputReader> inputs) {
          check_bags(kWeightsName, problem.inputs[1].shape[0], inputs[2], inputs[3], problem.attrs);
        },
    .mixing = Mixing::sums,
}};

}  // namespace
}  // namespace opbench
