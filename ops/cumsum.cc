#include "ops/elementwise.h"
#include "ops/matmul.h"
#include "ops/movement.h"

namespace opbench {
namespace {

AxisView view_of(const Dims& shape, const Attrs& attrs) {
  return {shape, axis_of("cumsum", shape, attrs.integer("dim"))};
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  axis_of("cumsum", inputs[0].shape, attrs.integer("dim"));
  return {inputs[0]};
}

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const AxisView view = view_of(inputs[0].desc().shape, attrs);
  const bool is_reverse = attrs.flag("reverse");
  std::vector<double> y = inputs[0].read_all();
  for_each_axis_line(view, [&](std::int64_t first) {
    double sum = 0;
    for (std::int64_t k = 0; k < view.extent; ++k) {
      const std::int64_t place = is_reverse ? view.extent - 1 - k : k;
      double& element = y[static_cast<std::size_t>(first + place * view.inner)];
      sum += element;
      element = sum;
    }
  });
  return elements_of({std::move(y)});
}

// An element is in all sums from its place on: the gradient sums from the other end.
std::vector<GradientCall> gradient(const Problem& forward) {
  const std::pair<std::string_view, AttrValue> attrs[] = {
      {"dim", forward.attrs.integer("dim")}, {"reverse", !forward.attrs.flag("reverse")}};
  return {{"cumsum", {{GradientArg::output_gradient, 0}}, {0}, attrs_with("cumsum", attrs)}};
}

const RegisteredOp registered{{
    .name = "cumsum",
    .ir_name = "cumsum",
    .summary = "y[i] = the sum of x[0] to x[i] along an axis; with reverse of x[i] to the last",
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
                       {.attrs = "dim: axis, reverse", .is_profiled_only = true}}},
                 .profiled = {{"Cumsum", "x, =axis", "y"}, {"aten::cumsum", "self, =dim"}}},
    .inputs = {{"self", "self", {}, unit_data}},
    .outputs = {{"result"}},
    .attrs = {{"dim", std::int64_t{-1}, "the axis; negative: from the back"},
              {"reverse", false, "from the last place to the first"}},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer,
    .reference = reference,
    .traffic = [](const Problem& problem) { return elementwise_traffic(problem, 1); },
    .gradient = gradient,
    .mixing = Mixing::sums,
}};

}  // namespace
}  // namespace opbench
