#include "ops/elementwise.h"
#include "ops/movement.h"
#include "ops/reduction.h"

namespace opbench {
namespace {

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Dims& shape = inputs[0].desc().shape;
  return [sum = sums_over(inputs[0], reduced_axes("reduce_mean", shape, attrs)),
          n = reduced_count("reduce_mean", shape, attrs)](std::size_t, ElementRange range,
                                                          std::span<double> to) {
    for (std::size_t i = 0; i < to.size(); ++i) {
      to[i] = sum[static_cast<std::size_t>(range.first) + i] / n;
    }
  };
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  return {describe(inputs[0].dtype, reduced_shape("reduce_mean", inputs[0].shape, attrs))};
}

const RegisteredOp registered{{
    .name = "reduce_mean",
    .ir_name = "mean",
    .summary = "y = sum(x)/n along the axes; NaN where n is 0",
    .source = "torch.mean(dim); CANN ReduceMean",
    .known_as = {.calls = {{"mean, mean_dim, ReduceMean, ReduceMeanD",
                            "self|x",
                            "result|y",
                            {.attrs = "axes: dim|axes, keep_dims: keepdim|keep_dims"}}},
                 .profiled = {{"ReduceMeanD", "x", "y"},
                              {"ReduceMean", "x, =axes", "y"},
                              {"aten::mean", "self, =dim, =keepdim"}},
                 .torch = "{0}.mean({axes} or list(range({0}.dim())), {keep_dims})",
                 .likely = likely_of_mean},
    .inputs = {{"self"}},
    .outputs = {{"result"}},
    .attrs = reduce_attrs(),
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer,
    .reference = reference,
    .traffic = input_traffic<1>,
    .gradient =
        [](const Problem&) {
          return std::vector<GradientCall>{
              {"reduce_mean_grad", {{GradientArg::output_gradient, 0}, {GradientArg::input, 0}}}};
        },
    .mixing = Mixing::sums,
}};

}  // namespace
}  // namespace opbench
