// The greatest and the least elements over axes, without their places.
#include <cmath>

#include "ops/elementwise.h"
#include "ops/elementwise_op.h"
#include "ops/integers.h"
#include "ops/movement.h"
#include "ops/reduction.h"
#include "tensor/error.h"

namespace opbench {
namespace {

// Only NaN differs from itself; it is kept.
constexpr auto kGreatestOf = []<class T>(T a, T b) { return a != a || a > b ? a : b; };
constexpr auto kLeastOf = []<class T>(T a, T b) { return a != a || a < b ? a : b; };

template <OpName kName, auto kBetter, class T>
std::vector<T> extremes_of(const std::vector<T>& x, const Dims& shape, const Attrs& attrs) {
  const Dims strides = row_major_strides(shape);
  const Dims to = strides_in_result(shape, reduced_axes(kName.view(), shape, attrs));
  std::vector<T> y(
      static_cast<std::size_t>(element_count(reduced_shape(kName.view(), shape, attrs))));
  std::vector<bool> is_first(y.size(), true);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto place =
        static_cast<std::size_t>(place_in_result(static_cast<std::int64_t>(i), strides, to));
    y[place] = is_first[place] ? x[i] : kBetter(x[i], y[place]);
    is_first[place] = false;
  }
  return y;
}

template <OpName kName, auto kBetter>
Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  return elements_of(
      {extremes_of<kName, kBetter>(inputs[0].read_all(), inputs[0].desc().shape, attrs)});
}

template <OpName kName, auto kBetter>
ExactReference extremes_on_integers(std::span<const InputReader> inputs, const Attrs& attrs) {
  const TensorDesc& desc = inputs[0].desc();
  const auto count = static_cast<std::size_t>(desc.elements());
  std::vector<std::byte> bits(count * size_of(desc.dtype));
  inputs[0].read_bits({0, desc.elements()}, bits.data());
  std::vector<std::int64_t> x(count);
  widen_integers(desc.dtype, bits.data(), x);
  return [y = extremes_of<kName, kBetter>(x, desc.shape, attrs), dtype = desc.dtype](
             std::size_t, ElementRange range, void* to) {
    wrap_integers(std::span(y).subspan(static_cast<std::size_t>(range.first),
                                       static_cast<std::size_t>(range.count)),
                  dtype, to);
  };
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
      .dtypes = kNumberDTypes,
      .formats = kPlainFormats,
      .infer = infer<kName>,
      .reference = reference<kName, kBetter>,
      .exact_reference = extremes_on_integers<kName, kBetter>,
      .terms = terms<kName, kBetter>,
      .traffic = input_traffic<1>,
      .mixing = Mixing::other,
  };
}

// Calls with a second tensor are excluded: they compute another operator.
const RegisteredOp kOperators[] = {
    RegisteredOp(extreme<"amax", kGreatestOf>(
        "y = the greatest of x over the axes; NaN if there is one", "torch.amax, torch.max(x)",
        {.calls = {{"amax, max",
                    "self",
                    "result|out",
                    {.attrs = "axes: dim, keep_dims: keepdim", .where = "other:"}}},
         .torch = "torch.amax({0}, {axes} or list(range({0}.dim())), {keep_dims})"})),
    RegisteredOp(extreme<"amin", kLeastOf>(
        "y = the least of x over the axes; NaN if there is one", "torch.amin, torch.min(x)",
        {.calls = {{"amin, min",
                    "self",
                    "result|out",
                    {.attrs = "axes: dim, keep_dims: keepdim", .where = "other:"}}},
         .torch = "torch.amin({0}, {axes} or list(range({0}.dim())), {keep_dims})"})),
};

}  // namespace
}  // namespace opbench
