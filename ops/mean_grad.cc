#include "ops/elementwise.h"
#include "ops/reduction.h"

namespace opbench {
namespace {

Reference reference(std::span<const InputReader> inputs, const Attrs&) {
  double dy = 0;
  inputs[0].read({0, 1}, {&dy, 1});
  return constant_reference(dy / double(inputs[1].desc().elements()));
}

const RegisteredOp registered{{
    .name = "mean_grad",
    .ir_name = "MeanBackward0",
    .summary = "dx = dy/n everywhere, n = elements of self",
    .source = "torch.mean backward",
    // Autograd saves only the sizes of self, which are those of its gradient.
    .known_as = {.calls = {{"MeanBackward", "grads/grads_0, self|output grad_inputs/grad_inputs_0",
                            "grad_inputs/grad_inputs_0"}}},
    .inputs = {{"grad_output", "grads/grads_0"}, {"self"}},
    .outputs = {{"grad_input", "grad_inputs/grad_inputs_0"}},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainAnd5hd,
    .infer = [](std::span<const TensorDesc> in,
                const Attrs&) { return infer_expanded("mean_grad", in); },
    .reference = reference,
    .traffic = expanded_traffic,
    .inputs_like = scalar_and_tensor,
}};

}  // namespace
}  // namespace opbench
