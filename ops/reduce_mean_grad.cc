#include <fmt/format.h>

#include "ops/elementwise.h"
#include "ops/movement.h"
#include "ops/reduction.h"
#include "tensor/error.h"

namespace opbench {
namespace {

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Dims& shape = inputs[1].desc().shape;
  const std::vector<bool> reduced = reduced_axes("reduce_mean_grad", shape, attrs);
  std::vector<double> dy(static_cast<std::size_t>(inputs[0].desc().elements()));
  inputs[0].read({0, inputs[0].desc().elements()}, dy);
  return [dy = std::move(dy), strides = row_major_strides(shape),
          from = strides_in_result(shape, reduced),
          n = reduced_count("reduce_mean_grad", shape, attrs)](std::size_t, ElementRange range,
                                                               std::span<double> to) {
    for (std::size_t i = 0; i < to.size(); ++i) {
      const std::int64_t element = range.first + static_cast<std::int64_t>(i);
      to[i] = dy[static_cast<std::size_t>(place_in_result(element, strides, from))] / n;
    }
  };
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Dims wanted = reduced_shape("reduce_mean_grad", inputs[1].shape, attrs);
  if (inputs[0].shape != wanted) {
    throw Error(fmt::format(
        "reduce_mean_grad: 'grad_output' has shape {}; allowed: {}, the reduced shape of 'self'",
        to_string(inputs[0].shape), to_string(wanted)));
  }
  return {inputs[1]};
}

// The second input provides its shape only; its elements are not read.
Traffic traffic(const Problem& problem) {
  return {.bytes_read = double(problem.inputs[0].bytes()),
          .bytes_written = double(problem.outputs[0].bytes()),
          .operations = double(problem.inputs[0].elements())};
}

const RegisteredOp registered{{
    .name = "reduce_mean_grad",
    .ir_name = "MeanBackward1",
    .summary = "dx = dy/n, repeated along the reduced axes",
    .source = "torch.mean(dim) backward",
    // Autograd saves only the sizes of self, which are those of its gradient.
    .known_as =
        {.calls = {{"MeanBackward",
                    "grads/grads_0, self|output grad_inputs/grad_inputs_0",
                    "grad_inputs/grad_inputs_0",
                    {.attrs = "axes: dim, keep_dims: keepdim", .needs = "axes", .turn = 1}}}},
    .inputs = {{"grad_output", "grads/grads_0"}, {"self"}},
    .outputs = {{"grad_input", "grad_inputs/grad_inputs_0"}},
    .attrs = reduce_attrs(),
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer,
    .reference = reference,
    .traffic = traffic,
    .inputs_like =
        [](const Dims& shape, const Attrs& attrs) {
          return std::vector<Dims>{reduced_shape("reduce_mean_grad", shape, attrs), shape};
        },
}};

}  // namespace
}  // namespace opbench
