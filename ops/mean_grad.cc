#include <fmt/format.h>

#include "ops/elementwise.h"
#include "tensor/error.h"

namespace opbench {
namespace {

Reference reference(std::span<const InputReader> inputs, const Attrs&) {
  double dy = 0;
  inputs[0].read({0, 1}, {&dy, 1});
  const double n = double(inputs[1].desc().elements());
  return [value = dy / n](std::size_t, ElementRange, std::span<double> to) {
    for (double& element : to) element = value;
  };
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs&) {
  if (!inputs[0].shape.empty()) {
    throw Error(fmt::format("mean_grad: input 'grad_output' must be a scalar, found shape {}",
                            to_string(inputs[0].shape)));
  }
  if (inputs[0].dtype != inputs[1].dtype) {
    throw Error(fmt::format("mean_grad: inputs must have one dtype, found {} and {}",
                            name(inputs[0].dtype), name(inputs[1].dtype)));
  }
  return {inputs[1]};
}

// The second input gives its shape only; its elements are not read.
Traffic traffic(const Problem& problem) {
  return {.bytes_read = double(problem.inputs[0].bytes()),
          .bytes_written = double(problem.outputs[0].bytes()),
          .operations = 1};
}

const RegisteredOp registered{{
    .name = "mean_grad",
    .ir_name = "MeanBackward0",
    .summary = "dx = dy/n everywhere, n = elements of self",
    .source = "torch.mean backward",
    .inputs = {{"grad_output", "grads/grads_0"}, {"self"}},
    .outputs = {{"grad_input", "grad_inputs/grad_inputs_0"}},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainAnd5hd,
    .infer = infer,
    .reference = reference,
    .traffic = traffic,
    .inputs_like =
        [](const Dims& shape, const Attrs&) {
          return std::vector<Dims>{{}, shape};
        },
}};

}  // namespace
}  // namespace opbench
