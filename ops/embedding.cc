// Rows of a table selected by token ids, and the gradient that sums them.
#include <fmt/format.h>

#include "ops/elementwise.h"
#include "ops/gather.h"
#include "ops/index.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "embedding", kGradName = "embedding_grad";

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs&) {
  const Dims& weight = inputs[0].shape;
  if (weight.size() != 2) {
    throw Error(fmt::format("{}: 'weight' has shape {}; allowed: [rows, columns]", kName,
                            to_string(weight)));
  }
  Dims shape = inputs[1].shape;
  shape.push_back(weight[1]);
  return {with_shape(inputs[0], std::move(shape))};
}

ExactReference reference(std::span<const InputReader> inputs, const Attrs&) {
  return gathered(inputs, embedding_view(inputs[0].desc().shape, inputs[1].desc().shape));
}

std::vector<AttrSpec> padding_attr() {
  return {{"padding_idx", std::int64_t{-1}, "a row without gradient; -1: no such row"}};
}

std::vector<GradientCall> gradient(const Problem& forward) {
  const std::pair<std::string_view, AttrValue> attrs[] = {
      {"padding_idx", forward.attrs.integer("padding_idx")},
      {"num_weights", forward.inputs[0].shape[0]}};
  return {{kGradName,
           {{GradientArg::output_gradient, 0}, {GradientArg::input, 1}},
           {0},
           attrs_with(kGradName, attrs)}};
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "embedding",
    .summary = "y[i] = weight[indices[i]]",
    .source = "torch.nn.functional.embedding; CANN GatherV2",
    .known_as = {.calls = {{"embedding", "weight, indices", "result"}},
                 .profiled = {{"aten::embedding", "weight, indices"}}},
    .inputs = {{"weight"},
               {.name = "indices",
                .dtypes = kIndexDTypes,
                .data =
                    [](const Problem& problem) { return index_data(problem.inputs[0].shape[0]); }}},
    .outputs = {{"result"}},
    .attrs = padding_attr(),
    .dtypes = kMovableDTypes,
    .formats = kPlainFormats,
    .accuracy = AccuracyClass::exact,
    .infer = infer,
    .exact_reference = reference,
    .traffic = gather_traffic,
    .gradient = gradient,
    .inputs_like =
        [](const Dims& shape, const Attrs&) {
          return std::vector<Dims>{shape, shape.empty() ? Dims{} : Dims{shape[0]}};
        },
    .check_values =
        [](const Problem& problem, std::span<const InputReader> inputs) {
          check_index({kName, "indices", problem.inputs[0].shape[0]}, inputs[1].read_index());
        },
}};

std::vector<TensorDesc> infer_grad(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Dims &dy = inputs[0].shape, &indices = inputs[1].shape;
  const Dims rows(dy.begin(), dy.empty() ? dy.begin() : dy.end() - 1);
  if (dy.empty() || (rows != indices && Dims{element_count(rows)} != indices)) {
    throw Error(
        fmt::format("{}: 'indices' has shape {} and 'grad_output' {}; allowed: a row of "
                    "'grad_output' for each index",
                    kGradName, to_string(indices), to_string(dy)));
  }
  return {with_shape(inputs[0], {attrs.integer("num_weights"), dy.back()})};
}

// Every row of the table is the sum of the rows of dy with its index.
Reference reference_grad(std::span<const InputReader> inputs, const Attrs& attrs) {
  const auto columns = static_cast<std::size_t>(inputs[0].desc().shape.back());
  const std::vector<std::int64_t> indices = inputs[1].read_index();
  const std::vector<double> dy = inputs[0].read_all();
  std::vector<double> sums(static_cast<std::size_t>(attrs.integer("num_weights")) * columns);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] == attrs.integer("padding_idx")) continue;
    double* const to = sums.data() + static_cast<std::size_t>(indices[i]) * columns;
    for (std::size_t c = 0; c < columns; ++c) to[c] += dy[i * columns + c];
  }
  return elements_of({std::move(sums)});
}

std::vector<AttrSpec> grad_attrs() {
  std::vector<AttrSpec> attrs = padding_attr();
  attrs.push_back({"num_weights", std::int64_t{256}, "rows of the table",
                   [](const AttrValue& value) -> std::string {
                     return std::get<std::int64_t>(value) >= 0 ? "" : "it must be 0 or more";
                   }});
  return attrs;
}

const RegisteredOp registered_grad{{
    .name = kGradName,
    .ir_name = "EmbeddingDenseBackward",
    .summary = "dweight[r] = the sum of dy[i] where indices[i] is r",
    .source = "torch.nn.functional.embedding backward; CANN EmbeddingDenseGrad",
    .known_as =
        {.calls =
             {{"EmbeddingBackward, EmbeddingDenseBackward, embedding_dense_backward, "
               "EmbeddingDenseGrad",
               "grads/grads_0|grad_output|grad, indices",
               "grad_inputs/grad_inputs_0|result|y",
               {.attrs =
                    "num_weights: num_weights|weight_sym_argsize_0|weight_argsize_0, padding_idx",
                .where = "scale_grad_by_freq: 0, sparse: 0",
                .needs = "num_weights"}},
              {"EmbeddingBackward",
               "grads/grads_0, indices",
               "grad_inputs/grad_inputs_0",
               {.attrs = "num_weights: rows of grad_inputs/grad_inputs_0, padding_idx",
                .where = "scale_grad_by_freq: 0, sparse: 0"}},
              {"EmbeddingDenseGradV2",  // its indices are sorted; another input has their places
               "grad, sort_indices",
               "y",
               {.attrs = "num_weights: rows of y, padding_idx", .is_profiled_only = true}},
              {"IndexBackward",
               "grads/grads_0, indices/indices_0",
               "grad_inputs/grad_inputs_0",
               {.attrs = "num_weights: rows of grad_inputs/grad_inputs_0",
                .where = "indices/indices_1:"}}}},
    .inputs = {{"grad_output", "grads/grads_0"},
               {.name = "indices",
                .dtypes = kIndexDTypes,
                .data =
                    [](const Problem& problem) {
                      return index_data(problem.attrs.integer("num_weights"));
                    }}},
    .outputs = {{"grad_weight", "grad_inputs/grad_inputs_0"}},
    .attrs = grad_attrs(),
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer_grad,
    .reference = reference_grad,
    .traffic = input_traffic<1>,
    .inputs_like =
        [](const Dims& shape, const Attrs&) {
          return std::vector<Dims>{shape,
                                   Dims(shape.begin(), shape.end() - (shape.empty() ? 0 : 1))};
        },
    .check_values =
        [](const Problem& problem, std::span<const InputReader> inputs) {
          check_index({kGradName, "indices", problem.attrs.integer("num_weights")},
                      inputs[1].read_index());
        },
    .mixing = Mixing::sums,
}};

}  // namespace

GatherView embedding_view(const Dims& weight, const Dims& indices) {
  return {.extent = weight[0], .count = element_count(indices), .row = weight[1]};
}

}  // namespace opbench
