#include <fmt/format.h>

#include "ops/elementwise.h"
#include "ops/movement.h"
#include "ops/reduction.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "sum_grad";

// Only a scalar is spread over blocks of channels.
std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  if (attrs.list("axes").empty() && !attrs.flag("keep_dims")) return infer_expanded(kName, inputs);
  const Dims wanted = reduced_shape(kName, inputs[1].shape, attrs);
  if (inputs[0].shape != wanted) {
    throw Error(
        fmt::format("{}: 'grad_output' has shape {}; allowed: {}, the reduced shape of 'self'",
                    kName, to_string(inputs[0].shape), to_string(wanted)));
  }
  if (is_private(inputs[1].format)) {
    throw Error(
        fmt::format("{}: 'self' is stored as {}; allowed: plain formats where there are "
                    "axes",
                    kName, name(inputs[1].format)));
  }
  return {inputs[1]};
}

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Dims& shape = inputs[1].desc().shape;
  return [dy = inputs[0].read_all(), strides = row_major_strides(shape),
          from = strides_in_result(shape, reduced_axes(kName, shape, attrs))](
             std::size_t, ElementRange range, std::span<double> to) {
    for (std::size_t i = 0; i < to.size(); ++i) {
      const std::int64_t element = range.first + static_cast<std::int64_t>(i);
      to[i] = dy[static_cast<std::size_t>(place_in_result(element, strides, from))];
    }
  };
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "SumBackward0",
    .summary = "dx = dy everywhere, or repeated along the axes, in the shape of self",
    .source = "torch.sum backward; CANN BroadcastToD",
    .known_as = {.calls = {{"SumBackward",
                            "grads/grads_0, self|output grad_inputs/grad_inputs_0",
                            "grad_inputs/grad_inputs_0",
                            {.attrs = "axes: dim, keep_dims: keepdim"}},
                           {"fill__Tensor", "value, self", "self"}}},
    .inputs = {{"grad_output", "grads/grads_0"}, {"self"}},
    .outputs = {{"grad_input", "grad_inputs/grad_inputs_0"}},
    .attrs = reduce_attrs(),
    .dtypes = kArithmeticDTypes,
    .formats = kPlainAnd5hd,
    .infer = infer,
    .reference = reference,
    .traffic = expanded_traffic,
    .inputs_like =
        [](const Dims& shape, const Attrs& attrs) {
          return std::vector<Dims>{reduced_shape(kName, shape, attrs), shape};
        },
}};

}  // namespace
}  // namespace opbench
