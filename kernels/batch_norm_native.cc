// Batch norm like a framework on the CPU: channel by channel, with the variance in a second pass
// over the deviations from the mean.
#include <array>
#include <cmath>

#include "kernels/simd/in_fp32.h"
#include "ops/channels.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

// The sums of terms(i)... over the elements of a channel, in one pass: 16 fp32 sums for each term
// within a line; the lines are added in fp64.
template <class... Terms>
std::array<double, sizeof...(Terms)> channel_sums(const ChannelView& view, std::int64_t channel,
                                                  Terms... terms) {
  constexpr std::int64_t kLanes = 16;
  std::array<double, sizeof...(Terms)> sums{};
  for (std::int64_t n = 0; n < view.outer; ++n) {
    const std::int64_t first = (n * view.channels + channel) * view.inner;
    float lanes[sizeof...(Terms)][kLanes] = {};
    const auto add = [&](std::int64_t lane, std::int64_t i) {
      std::size_t which = 0;
      ((lanes[which++][lane] += terms(i)), ...);
    };
    std::int64_t i = 0;
    for (; i + kLanes <= view.inner; i += kLanes) {
      for (std::int64_t k = 0; k < kLanes; ++k) add(k, first + i + k);
    }
    for (; i < view.inner; ++i) add(0, first + i);
    for (std::size_t which = 0; which < sums.size(); ++which) {
      for (const float lane : lanes[which]) sums[which] += double(lane);
    }
  }
  return sums;
}

template <class Term>
double channel_sum(const ChannelView& view, std::int64_t channel, Term term) {
  return channel_sums(view, channel, term)[0];
}

// Writes y[i] = make(i) for the elements of a channel.
template <class Make>
void channel_map(const ChannelView& view, std::int64_t channel, float* y, Make make) {
  for (std::int64_t n = 0; n < view.outer; ++n) {
    const std::int64_t first = (n * view.channels + channel) * view.inner;
    for (std::int64_t i = first; i < first + view.inner; ++i) y[i] = make(i);
  }
}

const float* input(const KernelArgs& args, std::size_t i) {
  return static_cast<const float*>(args.inputs[i]);
}
float* output(const KernelArgs& args, std::size_t i) {
  return static_cast<float*>(args.outputs[i]);
}

struct Forward {
  ChannelView view;
  bool training;
  double momentum, eps;

  explicit Forward(const Problem& problem)
      : view(channel_view("batch_norm", "self", problem.inputs[0])),
        training(problem.attrs.flag("training")),
        momentum(problem.attrs.number("momentum")),
        eps(problem.attrs.number("eps")) {}

  void channel(const KernelArgs& args, std::int64_t c) const {
    const float* x = input(args, 0);
    double mean = double(input(args, 3)[c]), variance = double(input(args, 4)[c]);
    if (training) {
      const double n = double(view.count()), old_mean = mean, old_variance = variance;
      mean = channel_sum(view, c, [&](std::int64_t i) { return x[i]; }) / n;
      const auto center = static_cast<float>(mean);
      variance =
          channel_sum(view, c, [&](std::int64_t i) { return (x[i] - center) * (x[i] - center); }) /
          n;
      output(args, kRunningMean)[c] = float((1 - momentum) * old_mean + momentum * mean);
      output(args, kRunningVar)[c] =
          float((1 - momentum) * old_variance + momentum * variance * (n / (n - 1)));
      output(args, kSaveMean)[c] = center;
      output(args, kSaveInvstd)[c] = float(1 / std::sqrt(variance + eps));
    }
    const auto center = static_cast<float>(mean);
    const auto scale = float(1 / std::sqrt(variance + eps)) * input(args, 1)[c];
    const float bias = input(args, 2)[c];
    channel_map(view, c, output(args, kResult),
                [&](std::int64_t i) { return (x[i] - center) * scale + bias; });
  }

  void operator()(const KernelArgs& args) const {
    parallel_ranges(view.channels, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t c = begin; c < end; ++c) channel(args, c);
    });
  }
};

// kTraining: the statistics depend on x; otherwise they are constants. kVariance: input 4 is a
// variance, else the inverse deviation of the batch.
template <bool kTraining, bool kVariance = !kTraining>
struct Backward {
  ChannelView view;
  double eps;

  explicit Backward(const Problem& problem)
      : view(channel_view(problem.op->name, "self", problem.inputs[1])),
        eps(kVariance ? problem.attrs.number("eps") : 0) {}

  void channel(const KernelArgs& args, std::int64_t c) const {
    const float *dy = input(args, 0), *x = input(args, 1);
    const float mean = input(args, 3)[c], last = input(args, 4)[c];
    const float invstd = kVariance ? float(1 / std::sqrt(double(last) + eps)) : last;
    const auto [bias, product] = channel_sums(
        view, c, [&](std::int64_t i) { return dy[i]; },
        [&](std::int64_t i) { return dy[i] * (x[i] - mean); });
    const double weight = double(invstd) * product;
    output(args, 1)[c] = static_cast<float>(weight);
    output(args, 2)[c] = static_cast<float>(bias);
    if (!kTraining) {
      const float scale = input(args, 2)[c] * invstd;
      return channel_map(view, c, output(args, 0), [&](std::int64_t i) { return dy[i] * scale; });
    }
    const double n = double(view.count());
    const auto shift = float(bias / n), slope = float(weight / n) * invstd;
    const float scale = input(args, 2)[c] * invstd;
    channel_map(view, c, output(args, 0),
                [&](std::int64_t i) { return (dy[i] - shift - (x[i] - mean) * slope) * scale; });
  }

  void operator()(const KernelArgs& args) const {
    parallel_ranges(view.channels, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t c = begin; c < end; ++c) channel(args, c);
    });
  }
};

std::string refuse_private(const Problem& problem) {
  return is_private(problem.inputs[0].format) ? "a framework's batch norm takes plain tensors" : "";
}

const RegisteredKernel batch_norm{{
    .op = "batch_norm",
    .name = "native",
    .provider = Provider::framework,
    .summary = "mean, then the variance around it, then the result: three passes",
    .refusal = refuse_private,
    .prepare = [](const Problem& problem) { return in_fp32(problem, Forward(problem)); },
    .temporary_bytes = in_fp32_bytes,
}};

const RegisteredKernel batch_norm_grad{{
    .op = "batch_norm_grad",
    .name = "native",
    .provider = Provider::framework,
    .summary = "both sums, then the gradient: two passes",
    .refusal = refuse_private,
    .prepare = [](const Problem& problem) { return in_fp32(problem, Backward<true>(problem)); },
    .temporary_bytes = in_fp32_bytes,
}};

const RegisteredKernel batch_norm_variance_grad{{
    .op = "batch_norm_variance_grad",
    .name = "native",
    .provider = Provider::framework,
    .summary = "both sums, then the gradient: two passes",
    .refusal = refuse_private,
    .prepare =
        [](const Problem& problem) { return in_fp32(problem, Backward<true, true>(problem)); },
    .temporary_bytes = in_fp32_bytes,
}};

const RegisteredKernel batch_norm_infer_grad{{
    .op = "batch_norm_infer_grad",
    .name = "native",
    .provider = Provider::framework,
    .summary = "both sums, then the gradient: two passes",
    .refusal = refuse_private,
    .prepare = [](const Problem& problem) { return in_fp32(problem, Backward<false>(problem)); },
    .temporary_bytes = in_fp32_bytes,
}};

}  // namespace
}  // namespace opbench
