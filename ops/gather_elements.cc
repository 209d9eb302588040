#include <fmt/format.h>

#include <algorithm>

#include "ops/index.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

std::size_t dim_of(const Dims& shape, const Attrs& attrs) {
  return axis_of("gather_elements", shape, attrs.integer("dim"));
}

[[noreturn]] void throw_misfit(const Dims& x, const Dims& index, std::string_view rule) {
  throw Error(fmt::format("gather_elements: 'index' has shape {}, 'x' has {}; {}", to_string(index),
                          to_string(x), rule));
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Dims &x = inputs[0].shape, &index = inputs[1].shape;
  if (x.size() != index.size()) throw_misfit(x, index, "they must have the same rank");
  const std::size_t dim = dim_of(x, attrs);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i == dim || index[i] <= x[i]) continue;
    throw_misfit(x, index, fmt::format("axis {} of 'index' must be at most that of 'x'", i));
  }
  TensorDesc output = inputs[0];
  output.shape = index;
  return {output};
}

// The source of an element of the output: its own coordinates in x, with the index along `dim`.
struct Gather {
  Dims index_strides, x_strides;
  std::size_t dim;
  std::vector<std::int64_t> index;

  SourceRun operator()(std::size_t, std::int64_t element) const {
    std::int64_t rest = element, source = index[static_cast<std::size_t>(element)] * x_strides[dim];
    for (std::size_t i = 0; i < index_strides.size(); ++i) {
      if (i != dim) source += rest / index_strides[i] * x_strides[i];
      rest %= index_strides[i];
    }
    return {0, source, 1};
  }
};

ExactReference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Dims &x = inputs[0].desc().shape, &index = inputs[1].desc().shape;
  return moved(inputs.first(1), Gather{row_major_strides(index), row_major_strides(x),
                                       dim_of(x, attrs), inputs[1].read_index()});
}

void check_values(const Problem& problem, std::span<const InputReader> inputs) {
  const Dims& x = problem.inputs[0].shape;
  check_index({"gather_elements", "index", x[dim_of(x, problem.attrs)], false},
              inputs[1].read_index());
}

// x is read at most once for each requested element.
Traffic traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  const auto& [x, y] = std::pair(problem.inputs[0], problem.outputs[0]);
  traffic.bytes_read -= double(x.bytes()) - double(std::min(x.bytes(), y.bytes()));
  return traffic;
}

const RegisteredOp registered{{
    .name = "gather_elements",
    .ir_name = "gather",
    .summary = "y[i][j] = x[index[i][j]][j] for dim 0, and so on",
    .source = "torch.gather; CANN GatherElements",
    .known_as =
        {.calls = {{"gather, GatherElements", "self|x, index", "result|out|y", {.attrs = "dim"}}},
         .profiled = {{"aten::gather", "self, =dim, index"}},
         .torch = "torch.gather({0}, {dim}, {1}.long())"},
    .inputs = {{"x", "self"},
               {.name = "index",
                .dtypes = kIndexDTypes,
                .data =
                    [](const Problem& problem) {
                      const Dims& x = problem.inputs[0].shape;
                      return index_data(x[dim_of(x, problem.attrs)]);
                    }}},
    .outputs = {{"y", "result"}},
    .attrs = {{"dim", std::int64_t{0}, "the axis that the index counts along"}},
    .dtypes = kMovableDTypes,
    .formats = kPlainFormats,
    .accuracy = AccuracyClass::exact,
    .infer = infer,
    .exact_reference = reference,
    .traffic = traffic,
    .check_values = check_values,
}};

}  // namespace
}  // namespace opbench
