// Sums or means of rows of a table for each bag, and the gradient that sums them.
#include <fmt/format.h>

#include <algorithm>

#include "ops/elementwise.h"
#include "ops/index.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "embedding_bag", kGradName = "embedding_bag_grad";

/// The bag of every index, and the factor of the rows of every bag.
struct Bags {
  std::vector<std::size_t> bag_of;
  std::vector<double> share;

  Bags(const InputReader& indices, const InputReader& offsets, const Attrs& attrs) {
    const std::vector<std::int64_t> first = offsets.read_index();
    const std::int64_t count = indices.desc().elements();
    for (std::size_t b = 0; b < first.size(); ++b) {
      const std::int64_t end = b + 1 < first.size() ? first[b + 1] : count;
      const std::int64_t rows = end - first[b];
      bag_of.insert(bag_of.end(), static_cast<std::size_t>(rows), b);
      share.push_back(attrs.word("mode") == "mean" && rows > 0 ? 1 / double(rows) : 1);
    }
  }
};

void require_lists(std::string_view op, const TensorDesc& indices, const TensorDesc& offsets) {
  if (indices.shape.size() == 1 && offsets.shape.size() == 1) return;
  throw Error(fmt::format("{}: 'indices' has shape {} and 'offsets' {}; allowed: one axis each", op,
                          to_string(indices.shape), to_string(offsets.shape)));
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs&) {
  const Dims& weight = inputs[0].shape;
  require_lists(kName, inputs[1], inputs[2]);
  if (weight.size() != 2) {
    throw Error(fmt::format("{}: 'weight' has shape {}; allowed: [rows, columns]", kName,
                            to_string(weight)));
  }
  return {describe(inputs[0].dtype, {inputs[2].shape[0], weight[1]})};
}

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Bags bags(inputs[1], inputs[2], attrs);
  const auto columns = static_cast<std::size_t>(inputs[0].desc().shape[1]);
  const std::vector<double> weight = inputs[0].read_all();
  const std::vector<std::int64_t> indices = inputs[1].read_index();
  std::vector<double> y(bags.share.size() * columns);
  for (std::size_t i = 0; i < bags.bag_of.size(); ++i) {
    const double* const row = weight.data() + static_cast<std::size_t>(indices[i]) * columns;
    double* const to = y.data() + bags.bag_of[i] * columns;
    for (std::size_t c = 0; c < columns; ++c) to[c] += row[c] * bags.share[bags.bag_of[i]];
  }
  return elements_of({std::move(y)});
}

std::vector<TensorDesc> infer_grad(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Dims& dy = inputs[0].shape;
  require_lists(kGradName, inputs[1], inputs[2]);
  if (dy.size() != 2 || dy[0] != inputs[2].shape[0]) {
    throw Error(
        fmt::format("{}: 'grad_output' has shape {}; allowed: [{}, columns], a row for "
                    "each bag",
                    kGradName, to_string(dy), inputs[2].shape[0]));
  }
  return {describe(inputs[0].dtype, {attrs.integer("num_weights"), dy[1]})};
}

Reference reference_grad(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Bags bags(inputs[1], inputs[2], attrs);
  const auto columns = static_cast<std::size_t>(inputs[0].desc().shape[1]);
  const std::vector<double> dy = inputs[0].read_all();
  const std::vector<std::int64_t> indices = inputs[1].read_index();
  std::vector<double> sums(static_cast<std::size_t>(attrs.integer("num_weights")) * columns);
  for (std::size_t i = 0; i < bags.bag_of.size(); ++i) {
    const double* const row = dy.data() + bags.bag_of[i] * columns;
    double* const to = sums.data() + static_cast<std::size_t>(indices[i]) * columns;
    for (std::size_t c = 0; c < columns; ++c) to[c] += row[c] * bags.share[bags.bag_of[i]];
  }
  return elements_of({std::move(sums)});
}

// Bags are contiguous; the first starts at 0.
void check(std::string_view op, std::int64_t rows, std::span<const InputReader> inputs) {
  check_index({op, "indices", rows}, inputs[1].read_index());
  const std::int64_t count = inputs[1].desc().elements();
  std::int64_t last = 0;
  bool is_first = true;
  for (const std::int64_t offset : inputs[2].read_index()) {
    if (offset < last || offset > count || (is_first && offset != 0)) {
      throw Error(
          fmt::format("{}: 'offsets' has {} after {}; allowed: 0 first, then ascending, at most {}",
                      op, offset, last, count));
    }
    last = offset;
    is_first = false;
  }
}

AttrSpec mode_attr() {
  return {"mode", std::string("mean"), "of the rows of a bag: sum or mean",
          [](const AttrValue& value) -> std::string {
            const auto& word = std::get<std::string>(value);
            return word == "sum" || word == "mean" ? "" : "it must be sum or mean";
          }};
}

AttrSpec num_weights_attr() {
  return {"num_weights", std::int64_t{256}, "rows of the table",
          [](const AttrValue& value) -> std::string {
            return std::get<std::int64_t>(value) >= 0 ? "" : "it must be 0 or more";
          }};
}

std::vector<GradientCall> gradient(const Problem& forward) {
  const std::pair<std::string_view, AttrValue> attrs[] = {
      {"mode", forward.attrs.word("mode")}, {"num_weights", forward.inputs[0].shape[0]}};
  return {{kGradName,
           {{GradientArg::output_gradient, 0}, {GradientArg::input, 1}, {GradientArg::input, 2}},
           {0},
           attrs_with(kGradName, attrs)}};
}

// All bags have equally many indices; the last one also has the remainder.
Distribution offsets(const Problem& problem) {
  const std::int64_t bags = std::max<std::int64_t>(1, problem.inputs[2].elements());
  return {DistributionKind::arange, 0, double(problem.inputs[1].elements() / bags)};
}

std::int64_t bags_of(const Dims& shape) { return shape.empty() ? 1 : shape[0]; }

Traffic traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  traffic.operations = double(problem.inputs[1].elements() * problem.outputs[0].shape[1]);
  return traffic;
}

std::vector<Dims> inputs_like(const Dims& shape, const Attrs&) {
  const std::int64_t bags = bags_of(shape);
  return {shape, {3 * bags}, {bags}};
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "_embedding_bag",
    .summary = "y[b] = the sum or mean of weight[indices[i]] over the indices of bag b",
    .source = "torch.nn.functional.embedding_bag",
    .known_as = {.calls = {{"_embedding_bag, embedding_bag, _embedding_bag_forward_only",
                            "weight, indices, offsets",
                            "result|result0",
                            {.attrs = "mode: mode as sum|mean",
                             .where =
                                 "include_last_offset: 0, padding_idx: -1, per_sample_weights:",
                             .needs = "mode"}}}},
    .inputs = {{"weight", "weight", {}, unit_data},
               {.name = "indices",
                .dtypes = kIndexDTypes,
                .data =
                    [](const Problem& problem) { return index_data(problem.inputs[0].shape[0]); }},
               {.name = "offsets", .dtypes = kIndexDTypes, .data = offsets}},
    .outputs = {{"result"}},
    .attrs = {mode_attr()},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer,
    .reference = reference,
    .traffic = traffic,
    .gradient = gradient,
    .inputs_like = inputs_like,
    .check_values =
        [](const Problem& problem, std::span<const InputReader> inputs) {
          check(kName, problem.inputs[0].shape[0], inputs);
        },
    .mixing = Mixing::sums,
}};

const RegisteredOp registered_grad{{
    .name = kGradName,
    .ir_name = "EmbeddingBagBackward",
    .summary = "dweight[r] = the sum of dy[b], over the size of the bag in means, where an index "
               "of bag b is r",
    .source = "torch.nn.functional.embedding_bag backward",
    .known_as = {.calls = {{"EmbeddingBagBackward",
                            "grads/grads_0, indices, offsets",
                            "grad_inputs/grad_inputs_0",
                            {.attrs = "mode: mode as sum|mean, num_weights: rows of "
                                      "grad_inputs/grad_inputs_0",
                             .where = "scale_grad_by_freq: 0, sparse: 0, padding_idx: -1, "
                                      "per_sample_weights:",
                             .needs = "mode"}}}},
    .inputs = {{"grad_output", "grads/grads_0", {}, unit_data},
               {.name = "indices",
                .dtypes = kIndexDTypes,
                .data =
                    [](const Problem& problem) {
                      return index_data(problem.attrs.integer("num_weights"));
                    }},
               {.name = "offsets", .dtypes = kIndexDTypes, .data = offsets}},
    .outputs = {{"grad_weight", "grad_inputs/grad_inputs_0"}},
    .attrs = {mode_attr(), num_weights_attr()},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer_grad,
    .reference = reference_grad,
    .traffic = traffic,
    .inputs_like = inputs_like,
    .check_values =
        [](const Problem& problem, std::span<const InputReader> inputs) {
          check(kGradName, problem.attrs.integer("num_weights"), inputs);
        },
    .mixing = Mixing::sums,
}};

}  // namespace
}  // namespace opbench
