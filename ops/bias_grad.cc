#include <fmt/format.h>

#include "ops/channels.h"
#include "ops/elementwise.h"
#include "ops/movement.h"

namespace opbench {
namespace {

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs&) {
  const ChannelView view = channel_view("bias_grad", "grad_output", inputs[0]);
  return {describe(inputs[0].dtype, {view.channels})};
}

Reference reference(std::span<const InputReader> inputs, const Attrs&) {
  const ChannelView view = channel_view("bias_grad", "grad_output", inputs[0].desc());
  std::vector<double> sums(static_cast<std::size_t>(view.channels));
  for_each_line(inputs[0], view, [&](std::int64_t channel, std::span<const double> line) {
    for (const double value : line) sums[static_cast<std::size_t>(channel)] += value;
  });
  return [sums = std::move(sums)](std::size_t, ElementRange range, std::span<double> to) {
    std::copy_n(sums.begin() + range.first, range.count, to.begin());
  };
}

const RegisteredOp registered{{
    .name = "bias_grad",
    .ir_name = "SumBackward",
    .summary = "db[c] = the sum of dy[:, c, ...]",
    .source = "backward of the bias of torch.nn.functional.linear and conv2d; CANN BiasAddGrad",
    .known_as = {.calls = {{"BiasAddGrad", "x", "y", {.is_profiled_only = true}}},
                 .torch = "{0}.sum([i for i in range({0}.dim()) if i != 1])"},
    .inputs = {{"grad_output", "grads/grads_0"}},
    .outputs = {{"grad_bias", "grad_inputs/grad_inputs_0"}},
    .dtypes = kArithmeticDTypes,
    .formats = {Format::NCHW, Format::ND, Format::NCDHW, Format::NC1HWC0, Format::FRACTAL_NZ},
    .infer = infer,
    .reference = reference,
    .traffic = input_traffic<1>,
    .mixing = Mixing::sums,
}};

}  // namespace
}  // namespace opbench
