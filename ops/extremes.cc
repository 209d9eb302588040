// The greatest and the least elements over axes, without their places.
#include <algorithm>
#include <cmath>

#include "ops/elementwise.h"
#include "ops/elementwise_op.h"
#include "ops/movement.h"
#include "ops/reduction.h"
#include "tensor/error.h"

namespace opbench {
namespace {

// Keeps NaN.
double greatest(double a, double b) { return std::isnan(a) || a > b ? a : b; }
double least(double a, double b) { return std::isnan(a) || a < b ? a : b; }

template <OpName kName, auto kBetter>
Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Dims& shape = inputs[0].desc().shape;
  const Dims strides = row_major_strides(shape);
  const Dims to = strides_in_result(shape, reduced_axes(kName.view(), shape, attrs));
  const std::vector<double> x = inputs[0].read_all();
  std::vector<double> y(
      static_cast<std::size_t>(element_count(reduced_shape(kName.view(), shape, attrs))));
  std::vector<bool> is_first(y.size(), true);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto place =
        static_cast<std::size_t>(place_in_result(static_cast<std::int64_t>(i), strides, to));
    y[place] = is_first[place] ? x[i] : kBetter(x[i], y[place]);
    is_first[place] = false;
  }
  return elements_of({std::move(y)});
}

template <OpName kName>
std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  TensorDesc result =
      describe(inputs[0].dtype, reduced_shape(kName.view(), inputs[0].shape, attrs));
  if (result.elements() > 0 && inputs[0].elements() == 0) {
    throw Error(std::string(kName.view()) + ": 'self' has no elements to choose from");
  }
  return {result};
}

// The result is an element, without rounding. But devices compare in narrower types.
template <OpName kName, auto kBetter>
Terms terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  return {.magnitude = [y = reference<kName, kBetter>(inputs, attrs)](
                           std::size_t output, ElementRange range, std::span<double> to) {
    y(output, range, to);
    for (double& value : to) value = std::fabs(value);
  }};
}

template <OpName kName, auto kBetter>
Op extreme(std::string_view summary, std::string_view source, KnownAs known_as) {
  return {
      .name = kName.view(),
      .ir_name = kName.view(),
      .summary = summary,
      .source = source,
      .known_as = std::move(known_as),
      .inputs = {{"self"}},
      .outputs = {{"result"}},
      .attrs = reduce_attrs(),
      .dtypes = kArithmeticDTypes,
      .formats = kPlainFormats,
      .infer = infer<kName>,
      .reference = reference<kName, kBetter>,
      .terms = terms<kName, kBetter>,
      .traffic = input_traffic<1>,
      .mixing = Mixing::other,
  };
}

// Calls with a second tensor are excluded: they compute another operator.
const RegisteredOp kOperators[] = {
    RegisteredOp(extreme<"amax", greatest>(
        "y = the greatest of x over the axes; NaN if there is one", "torch.amax, torch.max(x)",
        {.calls = {{"amax, max",
                    "self",
                    "result|out",
                    {.attrs = "axes: dim, keep_dims: keepdim", .where = "other:"}}},
         .torch = "torch.amax({0}, {axes} or list(range({0}.dim())), {keep_dims})"})),
    RegisteredOp(extreme<"amin", least>(
        "y = the least of x over the axes; NaN if there is one", "torch.amin, torch.min(x)",
        {.calls = {{"amin, min",
                    "self",
                    "result|out",
                    {.attrs = "axes: dim, keep_dims: keepdim", .where = "other:"}}},
         .torch = "torch.amin({0}, {axes} or list(range({0}.dim())), {keep_dims})"})),
};

}  // namespace
}  // namespace opbench
