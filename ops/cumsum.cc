#include <functional>

#include "ops/elementwise.h"
#include "ops/integers.h"
#include "ops/matmul.h"
#include "ops/movement.h"

namespace opbench {
namespace {

AxisView view_of(const Dims& shape, const Attrs& attrs) {
  return {shape, axis_of("cumsum", shape, attrs.integer("dim"))};
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  axis_of("cumsum", inputs[0].shape, attrs.integer("dim"));
  const DType dtype = inputs[0].dtype;
  return {describe(is_integer(dtype) ? DType::int64 : dtype, inputs[0].shape, inputs[0].format)};
}

/// Replaces the elements by their sums.
template <class T, class Add>
void accumulate(const AxisView& view, const Attrs& attrs, Add add, std::vector<T>& y) {
  const bool is_reverse = attrs.flag("reverse"), is_exclusive = attrs.flag("exclusive");
  for_each_axis_line(view, [&](std::int64_t first) {
    T sum = 0;
    for (std::int64_t k = 0; k < view.extent; ++k) {
      const std::int64_t place = is_reverse ? view.extent - 1 - k : k;
      T& element = y[static_cast<std::size_t>(first + place * view.inner)];
      const T before = sum;
      sum = add(sum, element);
      element = is_exclusive ? before : sum;
    }
  });
}

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const AxisView view = view_of(inputs[0].desc().shape, attrs);
  std::vector<double> y = inputs[0].read_all();
  accumulate(view, attrs, std::plus<>{}, y);
  return elements_of({std::move(y)});
}

ExactReference sums_of_integers(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Dims& shape = inputs[0].desc().shape;
  std::vector<std::int64_t> y(static_cast<std::size_t>(element_count(shape)));
  read_broadcast_integers(inputs[0], BroadcastView(shape, shape), {0, std::ssize(y)}, y);
  accumulate(view_of(shape, attrs), attrs, integer_sum, y);
  return [y = std::move(y)](std::size_t, ElementRange range, void* to) {
    std::copy_n(y.begin() + range.first, range.count, static_cast<std::int64_t*>(to));
  };
}

// An element is in all sums from its place on: the gradient sums from the other end.
std::vector<GradientCall> gradient(const Problem& forward) {
  const std::pair<std::string_view, AttrValue> attrs[] = {
      {"dim", forward.attrs.integer("dim")},
      {"reverse", !forward.attrs.flag("reverse")},
      {"exclusive", forward.attrs.flag("exclusive")}};
  return {{"cumsum", {{GradientArg::output_gradient, 0}}, {0}, attrs_with("cumsum", attrs)}};
}

const RegisteredOp registered{{
    .name = "cumsum",
    .ir_name = "cumsum",
    .summary =
        "y[i] = the sum of x[0] to x[i] along an axis; with reverse of x[i] to the last; integers "
        "as int64",
    .source = "torch.cumsum; CANN CumsumD",
    .known_as = {.calls =
                     {// Excluded: a device that rounds the sums of fp16 at every step would be
                      // reported as wrong.
                      {"cumsum", "self", "result|out", {.attrs = "dim", .devices = "CPU"}},
                      {"CumsumBackward",
                       "grads/grads_0",
                       "grad_inputs/grad_inputs_0",
                       {.attrs = "dim, reverse: =true", .devices = "CPU"}},
                      {"Cumsum, CumsumD",
                       "x",
                       "y",
                       {.attrs = "dim: axis, reverse, exclusive", .is_profiled_only = true}}},
                 .profiled = {{"Cumsum", "x, =axis", "y"}, {"aten::cumsum", "self, =dim"}},
                 .torch = "torch.cumsum({0}, {dim})"},
    .inputs = {{"self", "self", {}, unit_data}},
    .outputs = {{"result"}},
    .attrs = {{"dim", std::int64_t{-1}, "the axis; negative: from the back"},
              {"reverse", false, "from the last place to the first"},
              {"exclusive", false, "without the element at the place itself"}},
    .dtypes = kNumberDTypes,
    .formats = kPlainFormats,
    .infer = infer,
    .reference = reference,
    .exact_reference = sums_of_integers,
    .traffic = [](const Problem& problem) { return elementwise_traffic(problem, 1); },
    .gradient = gradient,
    .mixing = Mixing::sums,
}};

}  // namespace
}  // namespace opbench
