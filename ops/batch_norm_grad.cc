#include <fmt/format.h>

#include "ops/batch_norm.h"
#include "ops/elementwise.h"
#include "ops/format_rules.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kVectors[] = {"weight", "save_mean", "save_invstd"};

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs&) {
  infer_elementwise("batch_norm_grad", inputs.first(2));
  const ChannelView view = channel_view("batch_norm_grad", "self", inputs[1]);
  for (std::size_t i = 2; i < inputs.size(); ++i) {
    require_per_channel("batch_norm_grad", kVectors[i - 2], inputs[i], view.channels);
  }
  const TensorDesc vector = describe(DType::fp32, {view.channels}, inputs[2].format);
  return {inputs[1], vector, vector};
}

// What the output needs of each channel.
struct Channels {
  std::vector<double> weight, mean, invstd, grad_weight, grad_bias;
};

Channels channels_of(std::span<const InputReader> inputs, const ChannelView& view) {
  const auto count = static_cast<std::size_t>(view.channels);
  Channels of{inputs[2].read_all(), inputs[3].read_all(), inputs[4].read_all(),
              std::vector<double>(count), std::vector<double>(count)};
  std::vector<double> x(static_cast<std::size_t>(view.inner));
  std::int64_t first = 0;
  for_each_line(inputs[0], view, [&](std::int64_t channel, std::span<const double> dy) {
    const auto c = static_cast<std::size_t>(channel);
    inputs[1].read({first, view.inner}, x);
    first += view.inner;
    for (std::size_t i = 0; i < dy.size(); ++i) {
      of.grad_bias[c] += dy[i];
      of.grad_weight[c] += dy[i] * (x[i] - of.mean[c]) * of.invstd[c];
    }
  });
  return of;
}

Reference reference(std::span<const InputReader> inputs, const Attrs&) {
  const ChannelView view = channel_view("batch_norm_grad", "self", inputs[1].desc());
  return [dy = inputs[0], x = inputs[1], of = channels_of(inputs, view), view](
             std::size_t output, ElementRange range, std::span<double> to) {
    if (output > 0) {
      const std::vector<double>& vector = output == 1 ? of.grad_weight : of.grad_bias;
      std::copy_n(vector.begin() + range.first, range.count, to.begin());
      return;
    }
    thread_local std::vector<double> values;
    values.resize(to.size());
    dy.read(range, to);
    x.read(range, values);
    const double n = double(view.count());
    for (std::size_t i = 0; i < to.size(); ++i) {
      const auto c = static_cast<std::size_t>((range.first + static_cast<std::int64_t>(i)) /
                                              view.inner % view.channels);
      const double normalised = (values[i] - of.mean[c]) * of.invstd[c];
      to[i] = of.weight[c] * of.invstd[c] *
              (to[i] - of.grad_bias[c] / n - normalised * of.grad_weight[c] / n);
    }
  };
}

// A pass for the sums (4 operations), then one for the gradient (5).
Traffic traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  traffic.operations = 9 * double(problem.inputs[0].elements());
  return traffic;
}

std::vector<Dims> inputs_like(const Dims& shape, const Attrs&) {
  const Dims vector = {shape.size() < 2 ? 1 : shape[1]};
  return {shape, shape, vector, vector, vector};
}

const RegisteredOp registered{{
    .name = "batch_norm_grad",
    .ir_name = "NativeBatchNormBackward",
    .summary = "dweight = sum(dy*xn), dbias = sum(dy), dx = weight*invstd*(dy - (dbias + "
               "xn*dweight)/n), xn = (x - mean)*invstd",
    .source = "torch.nn.functional.batch_norm backward in training; CANN BNTrainingUpdateGrad, "
              "BNTrainingReduceGrad",
    .inputs = {{"grad_output", "grads/grads_0"},
               {"self"},
               channel_vector("weight", scale_data),
               channel_vector("save_mean", unit_data),
               channel_vector("save_invstd", scale_data)},
    .outputs = {{"grad_input", "grad_inputs/grad_inputs_0"},
                {"grad_weight", "grad_inputs/grad_inputs_1"},
                {"grad_bias", "grad_inputs/grad_inputs_2"}},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainAnd5hd,
    .infer = infer,
    .reference = reference,
    .traffic = traffic,
    .inputs_like = inputs_like,
    .mixes_elements = true,
    .context = {.input_format = blocked_images},
}};

}  // namespace
}  // namespace opbench
