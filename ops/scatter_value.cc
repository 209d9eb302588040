// Writes one number at the indexed places; it turns labels into rows of zeros and ones.
#include <fmt/format.h>

#include <algorithm>

#include "ops/index.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "scatter_value";

std::size_t dim_of(const Dims& shape, const Attrs& attrs) {
  return axis_of(kName, shape, attrs.integer("dim"));
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Dims &self = inputs[0].shape, &index = inputs[1].shape;
  const std::size_t dim = dim_of(self, attrs);
  bool fits = self.size() == index.size();
  for (std::size_t i = 0; fits && i < self.size(); ++i) fits = i == dim || index[i] <= self[i];
  if (!fits) {
    throw Error(fmt::format("{}: 'index' has shape {}; allowed: at most {}, except along axis {}",
                            kName, to_string(index), to_string(self), dim));
  }
  return {inputs[0]};
}

// The places that the index names: their own coordinates, except along `dim`.
std::vector<bool> places_of(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Dims &self = inputs[0].desc().shape, &shape = inputs[1].desc().shape;
  const Dims strides = row_major_strides(self), from = row_major_strides(shape);
  const std::size_t dim = dim_of(self, attrs);
  const std::vector<std::int64_t> index = inputs[1].read_index();
  std::vector<bool> is_named(static_cast<std::size_t>(element_count(self)));
  for (std::size_t k = 0; k < index.size(); ++k) {
    std::int64_t rest = static_cast<std::int64_t>(k), place = index[k] * strides[dim];
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (i != dim) place += rest / from[i] * strides[i];
      rest %= from[i];
    }
    is_named[static_cast<std::size_t>(place)] = true;
  }
  return is_named;
}

ExactReference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  return [self = inputs[0], is_named = places_of(inputs, attrs), value = attrs.number("value")](
             std::size_t, ElementRange range, void* to) {
    self.read_bits(range, to);
    const DType dtype = self.desc().dtype;
    auto* const bytes = static_cast<std::byte*>(to);
    for (std::int64_t i = 0; i < range.count; ++i) {
      if (!is_named[static_cast<std::size_t>(range.first + i)]) continue;
      from_doubles(dtype, &value, 1, bytes + static_cast<std::size_t>(i) * size_of(dtype));
    }
  };
}

// The written value does not depend on the input.
std::vector<GradientCall> gradient(const Problem& forward) {
  const std::pair<std::string_view, AttrValue> attrs[] = {{"dim", forward.attrs.integer("dim")},
                                                          {"value", 0.0}};
  return {{kName,
           {{GradientArg::output_gradient, 0}, {GradientArg::input, 1}},
           {0},
           attrs_with(kName, attrs)}};
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "scatter",
    .summary = "y = x, then y[index[i][j]][j] = value for dim 0, and so on",
    .source = "torch.scatter of a number; a step of torch.nn.functional.one_hot",
    .known_as = {.calls = {{"scatter_value",
                            "self, index",
                            "result|self|out",
                            {.attrs = "dim, value", .where = "reduce:", .needs = "value"}}},
                 .torch = "torch.scatter({0}, {dim}, {1}.long(), {value})"},
    .inputs = {{"self"},
               {.name = "index",
                .dtypes = kIndexDTypes,
                .data =
                    [](const Problem& problem) {
                      const Dims& self = problem.inputs[0].shape;
                      return index_data(self[dim_of(self, problem.attrs)]);
                    }}},
    .outputs = {{"result"}},
    .attrs = {{"dim", std::int64_t{-1}, "the axis that the index counts along"},
              {"value", 1.0, "the value to write"}},
    .dtypes = kMovableDTypes,
    .formats = kPlainFormats,
    .accuracy = AccuracyClass::exact,
    .infer = infer,
    .exact_reference = reference,
    .traffic = movement_traffic,
    .gradient = gradient,
    .check_values =
        [](const Problem& problem, std::span<const InputReader> inputs) {
          const Dims& self = problem.inputs[0].shape;
          check_index({kName, "index", self[dim_of(self, problem.attrs)]}, inputs[1].read_index());
        },
}};

}  // namespace
}  // namespace opbench
