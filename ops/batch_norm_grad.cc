#include <fmt/format.h>

#include <cmath>

#include "ops/channels.h"
#include "ops/elementwise.h"
#include "ops/format_rules.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "ops/terms.h"
#include "tensor/error.h"

namespace opbench {
namespace {

// The statistics that the forward pass has saved: of the batch, with the inverse deviation or, on
// Ascend, with the variance. With training=false the statistics are constants, not functions of x.
enum class Mode { training, training_variance, inference };

constexpr std::string_view name_of(Mode mode) {
  if (mode == Mode::inference) return "batch_norm_infer_grad";
  return mode == Mode::training ? "batch_norm_grad" : "batch_norm_variance_grad";
}

constexpr std::string_view last_input_of(Mode mode) {
  if (mode == Mode::inference) return "running_var";
  return mode == Mode::training ? "save_invstd" : "save_variance";
}

template <Mode kMode>
std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs&) {
  const std::string_view op = name_of(kMode);
  infer_elementwise(op, inputs.first(2));
  const ChannelView view = channel_view(op, "self", inputs[1]);
  for (std::size_t i = 2; i < inputs.size(); ++i) {
    require_per_channel(op, find_op(op).input(i).name, inputs[i], view.channels);
  }
  const TensorDesc vector = describe(DType::fp32, {view.channels}, inputs[2].format);
  return {inputs[1], vector, vector};
}

// The values of each channel that the outputs need.
struct Channels {
  std::vector<double> weight, mean, invstd, grad_weight, grad_bias;

  double normalised(Sum sum, double x, std::size_t c) const {
    return subtracted(sum, x, mean[c]) * invstd[c];
  }
};

Channels channels_of(std::span<const InputReader> inputs, const ChannelView& view,
                     std::vector<double> invstd, Sum sum) {
  const auto count = static_cast<std::size_t>(view.channels);
  Channels of{inputs[2].read_all(), inputs[3].read_all(), std::move(invstd),
              std::vector<double>(count), std::vector<double>(count)};
  std::vector<double> x(static_cast<std::size_t>(view.inner));
  std::int64_t first = 0;
  for_each_line(inputs[0], view, [&](std::int64_t channel, std::span<const double> dy) {
    const auto c = static_cast<std::size_t>(channel);
    inputs[1].read({first, view.inner}, x);
    first += view.inner;
    for (std::size_t i = 0; i < dy.size(); ++i) {
      of.grad_bias[c] += summand(sum, dy[i]);
      of.grad_weight[c] += summand(sum, dy[i]) * of.normalised(sum, x[i], c);
    }
  });
  return of;
}

template <Mode kMode, Sum kSum>
Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const ChannelView view = channel_view(name_of(kMode), "self", inputs[1].desc());
  std::vector<double> last = inputs[4].read_all();
  if (kMode != Mode::training) last = inverse_deviations(last, attrs.number("eps"));
  return [dy = inputs[0], x = inputs[1], of = channels_of(inputs, view, std::move(last), kSum),
          view](std::size_t output, ElementRange range, std::span<double> to) {
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
      const double through_statistics =
          kMode == Mode::inference
              ? 0
              : of.grad_bias[c] / n + of.normalised(kSum, values[i], c) * of.grad_weight[c] / n;
      const double scale = summand(kSum, of.weight[c] * of.invstd[c]);
      to[i] = scale * subtracted(kSum, to[i], through_statistics);
    }
  };
}

// One pass for the sums (4 operations), one for the gradient (5, or a product in inference).
template <Mode kMode>
Traffic traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  traffic.operations = (kMode == Mode::inference ? 5 : 9) * double(problem.inputs[0].elements());
  return traffic;
}

std::vector<Dims> inputs_like(const Dims& shape, const Attrs&) {
  const Dims vector = {shape.size() < 2 ? 1 : shape[1]};
  return {shape, shape, vector, vector, vector};
}

template <Mode kMode>
Op gradient_of() {
  constexpr std::string_view mean = kMode == Mode::inference ? "running_mean" : "save_mean";
  Op op;
  op.name = name_of(kMode);
  op.ir_name = "NativeBatchNormBackward";
  op.inputs = {{"grad_output", "grads/grads_0"},
               {"self"},
               channel_vector("weight", scale_data),
               channel_vector(mean, unit_data),
               channel_vector(last_input_of(kMode), scale_data)};
  op.outputs = {{"grad_input", "grad_inputs/grad_inputs_0"},
                {"grad_weight", "grad_inputs/grad_inputs_1"},
                {"grad_bias", "grad_inputs/grad_inputs_2"}};
  op.dtypes = kArithmeticDTypes;
  op.formats = kPlainAnd5hd;
  op.infer = infer<kMode>;
  op.reference = reference<kMode, Sum::values>;
  op.terms = [](std::span<const InputReader> inputs, const Attrs& attrs) {
    return Terms{.magnitude = reference<kMode, Sum::terms>(inputs, attrs)};
  };
  if (kMode != Mode::training) op.attrs = {batch_norm_eps()};
  op.traffic = traffic<kMode>;
  op.inputs_like = inputs_like;
  op.mixing = Mixing::other;
  op.context.input_format = blocked_images;
  return op;
}

Op training_gradient() {
  Op op = gradient_of<Mode::training>();
  op.summary =
      "dweight = sum(dy*xn), dbias = sum(dy), dx = weight*invstd*(dy - (dbias + "
      "xn*dweight)/n), xn = (x - mean)*invstd";
  op.source =
      "torch.nn.functional.batch_norm backward in training; CANN BNTrainingUpdateGrad, "
      "BNTrainingReduceGrad";
  op.known_as = {
      .calls = {{"CudnnBatchNormBackward, NativeBatchNormBackward",
                 "grads/grads_0, input|self, weight, result1|save_mean, result2|save_invstd",
                 "grad_inputs/grad_inputs_0, grad_inputs/grad_inputs_1, grad_inputs/grad_inputs_2",
                 {.where = "training: 1, train: 1", .devices = "CPU, CUDA"}},
                {"BNTrainingReduceGrad",
                 "grads, x, scale, batch_mean, batch_variance",
                 "y",
                 {.is_profiled_only = true}},
                {"native_batch_norm_backward, cudnn_batch_norm_backward",
                 "grad_out, input, weight, save_mean, save_invstd",
                 "result",
                 {.is_profiled_only = true}}},
      .profiled = {{"BNTrainingReduceGrad", "grads, x, , , scale, batch_mean, batch_variance", "y"},
                   {.names = "BNTrainingUpdateGrad", .part_of = "BNTrainingReduceGrad"},
                   {"aten::native_batch_norm_backward",
                    "grad_out, input, weight, , , save_mean, save_invstd, =train, =eps"},
                   {"aten::cudnn_batch_norm_backward",
                    "input, grad_out, weight, , , save_mean, save_invstd, =eps"}}};
  return op;
}

// Ascend's adapted PyTorch 1.5 saves the variance in place of 1/sqrt(variance + eps).
Op gradient_of_variance() {
  Op op = gradient_of<Mode::training_variance>();
  op.summary = "as batch_norm_grad, with invstd = 1/sqrt(variance + eps) of the saved variance";
  op.source =
      "torch.nn.functional.batch_norm backward in training on Ascend; CANN BNTrainingUpdateGrad, "
      "BNTrainingReduceGrad";
  op.known_as.calls = {
      {"NativeBatchNormBackward",
       "grads/grads_0, input|self, weight, result1|save_mean, result2|save_invstd",
       "grad_inputs/grad_inputs_0, grad_inputs/grad_inputs_1, grad_inputs/grad_inputs_2",
       {.attrs = "eps: eps|epsilon",
        .where = "training: 1, train: 1",
        .devices = "NPU",
        .turn = 1}}};
  return op;
}

Op inference_gradient() {
  Op op = gradient_of<Mode::inference>();
  op.summary =
      "dweight = sum(dy*(x - mean)*invstd), dbias = sum(dy), dx = weight*invstd*dy, "
      "invstd = 1/sqrt(variance + eps)";
  op.source =
      "torch.nn.functional.batch_norm backward with training=False; CANN BNInferGrad, "
      "BNTrainingUpdateGrad";
  op.known_as.not_recorded = "NativeBatchNormBackward of inference is not mapped yet";
  return op;
}

const RegisteredOp registered{training_gradient()};
const RegisteredOp registered_of_variance{gradient_of_variance()};
const RegisteredOp registered_inference{inference_gradient()};

}  // namespace
}  // namespace opbench
