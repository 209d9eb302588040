#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/channels.h"
#include "ops/elementwise.h"
#include "ops/format_rules.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "ops/terms.h"
#include "tensor/dtype.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kVectors[] = {"weight", "bias", "running_mean", "running_var"};

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const ChannelView view = channel_view("batch_norm", "self", inputs[0]);
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    require_per_channel("batch_norm", kVectors[i - 1], inputs[i], view.channels);
  }
  if (!attrs.flag("training")) return {inputs[0]};
  if (view.count() < 2) {
    throw Error(
        fmt::format("batch_norm: 'self' of shape {} has {} elements in a channel; the "
                    "variance of a batch needs 2 or more, or training=false",
                    to_string(inputs[0].shape), view.count()));
  }
  // The statistics are stored like the input vectors.
  const TensorDesc statistic = describe(DType::fp32, {view.channels}, inputs[1].format);
  return {inputs[0], statistic, statistic, statistic, statistic};
}

std::vector<double> magnitudes_of(std::vector<double> values) {
  for (double& value : values) value = std::fabs(value);
  return values;
}

struct Moments {
  std::vector<double> mean, variance;  // of the batch; the variance is divided by the number of
                                       // elements
};

// Computed in two passes.
Moments moments_of(const InputReader& x, const ChannelView& view) {
  const auto channels = static_cast<std::size_t>(view.channels);
  Moments moments{std::vector<double>(channels), std::vector<double>(channels)};
  for_each_line(x, view, [&](std::int64_t c, std::span<const double> line) {
    for (const double value : line) moments.mean[static_cast<std::size_t>(c)] += value;
  });
  for (double& mean : moments.mean) mean /= double(view.count());
  for_each_line(x, view, [&](std::int64_t c, std::span<const double> line) {
    const double mean = moments.mean[static_cast<std::size_t>(c)];
    double& sum = moments.variance[static_cast<std::size_t>(c)];
    for (const double value : line) sum += (value - mean) * (value - mean);
  });
  for (double& variance : moments.variance) variance /= double(view.count());
  return moments;
}

// The moments of the batch in training, else the running moments.
Moments used_moments(std::span<const InputReader> inputs, const ChannelView& view, bool training) {
  if (training) return moments_of(inputs[0], view);
  return {inputs[3].read_all(), inputs[4].read_all()};
}

// running = (1 - momentum)*running + momentum*batch*factor
std::vector<double> moved_on(std::vector<double> running, const std::vector<double>& batch,
                             double factor, double momentum) {
  for (std::size_t c = 0; c < running.size(); ++c) {
    running[c] = (1 - momentum) * running[c] + momentum * (batch[c] * factor);
  }
  return running;
}

// The outputs in the order of BatchNormOutput; the first is computed by element, from x and the
// channel.
template <class OfElement>
Reference by_channel(const InputReader& x, const ChannelView& view,
                     std::vector<std::vector<double>> vectors, OfElement of_element) {
  return [x, view, vectors = std::move(vectors), of_element = std::move(of_element)](
             std::size_t output, ElementRange range, std::span<double> to) {
    if (output != kResult) {
      std::copy_n(vectors[output].begin() + range.first, range.count, to.begin());
      return;
    }
    x.read(range, to);
    for (std::size_t i = 0; i < to.size(); ++i) {
      const std::int64_t line = (range.first + static_cast<std::int64_t>(i)) / view.inner;
      to[i] = of_element(to[i], static_cast<std::size_t>(line % view.channels));
    }
  };
}

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const ChannelView view = channel_view("batch_norm", "self", inputs[0].desc());
  const bool training = attrs.flag("training");
  const double eps = attrs.number("eps"), momentum = attrs.number("momentum");
  const Moments used = used_moments(inputs, view, training);
  std::vector<std::vector<double>> vectors(5);
  vectors[kSaveMean] = used.mean;
  vectors[kSaveInvstd] = inverse_deviations(used.variance, eps);
  if (training) {
    const double n = double(view.count());
    vectors[kRunningMean] = moved_on(inputs[3].read_all(), used.mean, 1, momentum);
    vectors[kRunningVar] = moved_on(inputs[4].read_all(), used.variance, n / (n - 1), momentum);
  }
  return by_channel(inputs[0], view, vectors,
                    [mean = used.mean, invstd = vectors[kSaveInvstd], weight = inputs[1].read_all(),
                     bias = inputs[2].read_all()](double x, std::size_t c) {
                      return (x - mean[c]) * invstd[c] * weight[c] + bias[c];
                    });
}

// Two differences can cancel: an element minus the mean, and the scaled element plus the bias. The
// sum of squares may also leave the range of fp32: the inverse deviation is 0 then, and the
// elements are lost.
Terms terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  const ChannelView view = channel_view("batch_norm", "self", inputs[0].desc());
  const bool training = attrs.flag("training");
  const double n = double(view.count());
  const Moments used = used_moments(inputs, view, training);
  std::vector<double> invstd = inverse_deviations(used.variance, attrs.number("eps"));
  std::vector<double> means = magnitudes_of(used.mean), greatest(means.size());
  if (training) {
    means.assign(means.size(), 0);
    for_each_line(inputs[0], view, [&](std::int64_t c, std::span<const double> line) {
      for (const double x : line) means[static_cast<std::size_t>(c)] += std::fabs(x) / n;
    });
    for (std::size_t c = 0; c < means.size(); ++c) {
      greatest[c] = n * std::fmax(means[c], used.variance[c]);
      if (greatest[c] > largest_finite(DType::fp32)) invstd[c] *= 0x1p24;
    }
  }
  const std::vector<double> running =
      moved_on(magnitudes_of(inputs[3].read_all()), means, 1, attrs.number("momentum"));
  // A single-pass variance is the mean of the squares minus the square of the mean; both are its
  // terms. The inverse deviation has half the relative error of the variance.
  std::vector<double> of_variance(means.size()), of_invstd(means.size());
  for (std::size_t c = 0; c < means.size(); ++c) {
    of_variance[c] = used.variance[c] + (training ? 2 * used.mean[c] * used.mean[c] : 0);
    of_invstd[c] = invstd[c] * (1 + of_variance[c] * invstd[c] * invstd[c]);
  }
  const std::vector<double> running_var =
      moved_on(magnitudes_of(inputs[4].read_all()), of_variance, n / std::max(1.0, n - 1),
               attrs.number("momentum"));
  const auto rounding = [mean = used.mean, means, invstd, of_invstd, weight = inputs[1].read_all(),
                         bias = inputs[2].read_all()](double x, std::size_t c) {
    const double before = std::fabs(x - mean[c]) + std::fabs(mean[c]) + means[c];
    const double by_deviation = std::fabs(x - mean[c]) * of_invstd[c];
    return (before * invstd[c] + by_deviation) * std::fabs(weight[c]) + std::fabs(bias[c]);
  };
  return {.magnitude =
              by_channel(inputs[0], view, {{}, running, running_var, means, of_invstd}, rounding),
          .greatest = by_channel(inputs[0], view, {{}, greatest, greatest, greatest, greatest},
                                 [greatest](double, std::size_t c) { return greatest[c]; })};
}

Traffic traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  traffic.operations =
      (problem.attrs.flag("training") ? 4 : 2) * double(problem.inputs[0].elements());
  return traffic;
}

std::vector<GradientCall> gradient(const Problem& forward) {
  if (!forward.attrs.flag("training")) {
    return {{"batch_norm_infer_grad",
             {{GradientArg::output_gradient, kResult},
              {GradientArg::input, 0},
              {GradientArg::input, 1},
              {GradientArg::input, 3},
              {GradientArg::input, 4}},
             {0, 1, 2}}};
  }
  return {{"batch_norm_grad",
           {{GradientArg::output_gradient, kResult},
            {GradientArg::input, 0},
            {GradientArg::input, 1},
            {GradientArg::output, kSaveMean},
            {GradientArg::output, kSaveInvstd}},
           {0, 1, 2}}};
}

std::vector<Dims> inputs_like(const Dims& shape, const Attrs&) {
  const Dims vector = {shape.size() < 2 ? 1 : shape[1]};
  return {shape, vector, vector, vector, vector};
}

TensorSpec statistic(std::string_view name) {
  TensorSpec spec{name};
  spec.differentiable = false;
  return spec;
}

const RegisteredOp registered{{
    .name = "batch_norm",
    .ir_name = "native_batch_norm",
    .summary = "y = (x - mean)/sqrt(variance + eps)*weight + bias, by channels; statistics of the "
               "batch or, with training=false, the running ones",
    .source = "torch.nn.functional.batch_norm; CANN BNTrainingReduce, BNTrainingUpdate, BNInfer",
    .known_as =
        {.calls =
             {{"native_batch_norm, cudnn_batch_norm",
               "input|self, weight, bias, running_mean, running_var",
               "result|result0|out, , , result1|save_mean, result2|save_invstd",
               {.attrs =
                    "training, momentum: momentum|exponential_average_factor, eps: eps|epsilon",
                .only = "training: 1",
                .devices = "CPU, CUDA"}},
              // Ascend's PyTorch 1.5 returns the variance in place of 1/sqrt(variance + eps). This
              // output is therefore not compared.
              {"native_batch_norm, batch_norm, cudnn_batch_norm, npu_batch_norm, "
               "_batch_norm_impl_index",
               "input|self, weight, bias, running_mean, running_var",
               "result|result0|out, , , result1|save_mean, ",
               {.attrs =
                    "training, momentum: momentum|exponential_average_factor, eps: eps|epsilon"}},
              {"BNInfer",
               "x, scale, offset, mean, variance",
               "y",
               {.attrs = "training: =false, eps: epsilon", .is_profiled_only = true}},
              {"BNTrainingUpdate",
               "x, scale, offset, mean, variance",
               "y",
               {.attrs = "momentum: factor, eps: epsilon", .is_profiled_only = true}}},
         .profiled =
             {{"BNInfer", "x, scale, offset, mean, variance", "y"},
              {"BNTrainingUpdate", "x, , , scale, offset, mean, variance", "y"},
              {.names = "BNTrainingReduce", .part_of = "BNTrainingUpdate"},
              {"aten::native_batch_norm, aten::cudnn_batch_norm",
               "input, weight, bias, running_mean, running_var, =training, =momentum, =eps"}},
         .torch = "(lambda m, v: (lambda y: (y[0], m, v, y[1], y[2]))(torch.native_batch_norm({0}, "
                  "{1}, {2}, "
                  "m, v, {training}, {momentum}, {eps})))({3}.clone(), {4}.clone())"},
    .inputs = {{"self"},
               channel_vector("weight", scale_data),
               channel_vector("bias", unit_data),
               channel_vector("running_mean", unit_data),
               channel_vector("running_var", scale_data)},
    .outputs = {{"result"},
                statistic("running_mean_out"),
                statistic("running_var_out"),
                statistic("save_mean"),
                statistic("save_invstd")},
    .attrs = {{"training", true, "normalise by the batch and update the running statistics"},
              {"momentum", double(0.1f), "share of the batch in the new running statistics",
               [](const AttrValue& value) -> std::string {
                 const double share = std::get<double>(value);
                 return share >= 0 && share <= 1 ? "" : "it must be from 0 to 1";
               }},
              batch_norm_eps()},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainAnd5hd,
    .infer = infer,
    .reference = reference,
    .terms = terms,
    .traffic = traffic,
    .gradient = gradient,
    .inputs_like = inputs_like,
    .mixing = Mixing::other,
    .holds_fp32 = true,
    .context = {.needs_fp32 = true, .input_format = blocked_images},
}};

}  // namespace

TensorSpec channel_vector(std::string_view name, Distribution (*data)(const Problem&)) {
  TensorSpec spec{name, name, {DType::fp32}, data};
  spec.formats = {Format::ND, Format::NC1HWC0};
  return spec;
}

AttrSpec batch_norm_eps() {
  return {"eps", double(1e-5f), "added to the variance", [](const AttrValue& value) -> std::string {
            return std::get<double>(value) >= 0 ? "" : "it must be 0 or more";
          }};
}

std::vector<double> inverse_deviations(const std::vector<double>& variance, double eps) {
  std::vector<double> result;
  for (const double value : variance) result.push_back(1 / std::sqrt(value + eps));
  return result;
}

Distribution scale_data(const Problem&) { return {DistributionKind::uniform, 0.5, 1.5}; }

}  // namespace opbench
