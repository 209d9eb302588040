// BNTrainingReduce and BNTrainingUpdate, BNInfer, and the gradient's BNTrainingUpdateGrad and
// BNTrainingReduceGrad: fp32 throughout, the variance in a single pass as E[x^2] - E[x]^2, which
// cancels where the mean is large beside the deviation.
// Source: CANN's bn_training_reduce.py, bn_training_update.py.
#include "ops/batch_norm.h"

#include <cmath>
#include <memory>

#include "kernels/lanes/channel_planes.h"
#include "kernels/lanes/lane_planes.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

const float* input(const KernelArgs& args, std::size_t i) {
  return static_cast<const float*>(args.inputs[i]);
}
float* output(const KernelArgs& args, std::size_t i) {
  return static_cast<float*>(args.outputs[i]);
}

// Numbers of the 16 channels of a block, side by side as the lanes of a plane.
struct Lanes {
  float a[kCube] = {}, b[kCube] = {}, c[kCube] = {};
};

// y = a*x + b*z + c by channels, plane by plane; without z, a*x + c.
void scale_planes(const ChannelPlanes& planes, const std::vector<Lanes>& lanes, const void* x,
                  const void* z, void* y) {
  parallel_blocks(planes.count(), [&](std::int64_t plane) {
    thread_local std::vector<float> x_values, z_values, y_values;
    const Lanes& of = lanes[static_cast<std::size_t>(plane % planes.planes)];
    const float* from = planes.load(x, plane, x_values);
    const float* second = z == nullptr ? nullptr : planes.load(z, plane, z_values);
    float* to = planes.target(y, plane, y_values);
    scale_lanes(planes.inner, {of.a, of.b, of.c}, from, second, to);
    planes.store(to, plane, y);
  });
}

struct Forward {
  ChannelPlanes x;
  ChannelSums sums;
  bool training;
  float momentum, eps;
  std::vector<Lanes> lanes;

  explicit Forward(const Problem& problem)
      : x(problem.inputs[0]),
        sums(x),
        training(problem.attrs.flag("training")),
        momentum(static_cast<float>(problem.attrs.number("momentum"))),
        eps(static_cast<float>(problem.attrs.number("eps"))),
        lanes(static_cast<std::size_t>(x.planes)) {}

  void reduce(const void* data) {
    parallel_blocks(x.count(), [&](std::int64_t plane) {
      thread_local std::vector<float> buffer;
      const float* values = x.load(data, plane, buffer);
      sum_and_squares(x.inner, values, sums.first_of(plane), sums.second_of(plane));
    });
  }

  void channel(const KernelArgs& args, std::int64_t c) {
    float mean = input(args, 3)[c], variance = input(args, 4)[c];
    if (training) {
      const auto n = static_cast<float>(x.outer * x.inner);
      const float batch = sums.total(0, c) / n, old_mean = mean, old_variance = variance;
      mean = batch;
      // Rounding may leave less than nothing.
      variance = std::max(sums.total(1, c) / n - mean * mean, 0.0f);
      output(args, kRunningMean)[c] = momentum * mean + (1 - momentum) * old_mean;
      output(args, kRunningVar)[c] =
          momentum * (variance * (n / (n - 1))) + (1 - momentum) * old_variance;
      output(args, kSaveMean)[c] = mean;
      output(args, kSaveInvstd)[c] = 1 / std::sqrt(variance + eps);
    }
    const float multiplier = input(args, 1)[c] / std::sqrt(variance + eps);
    Lanes& of = lanes[static_cast<std::size_t>(c / kCube)];
    of.a[c % kCube] = multiplier;
    of.c[c % kCube] = input(args, 2)[c] - multiplier * mean;
  }

  void operator()(const KernelArgs& args) {
    if (training) reduce(args.inputs[0]);
    parallel_ranges(x.channels, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t c = begin; c < end; ++c) channel(args, c);
    });
    scale_planes(x, lanes, args.inputs[0], nullptr, args.outputs[kResult]);
  }
};

// kTraining: input 4 is the inverse deviation of the batch; else a variance, and the statistics are
// constants.
template <bool kTraining>
struct Backward {
  ChannelPlanes x;
  ChannelSums sums;
  float eps;
  std::vector<Lanes> lanes;

  explicit Backward(const Problem& problem)
      : x(problem.inputs[1]),
        sums(x),
        eps(kTraining ? 0 : static_cast<float>(problem.attrs.number("eps"))),
        lanes(static_cast<std::size_t>(x.planes)) {}

  void reduce(const KernelArgs& args) {
    parallel_blocks(x.count(), [&](std::int64_t plane) {
      thread_local std::vector<float> dy_buffer, x_buffer;
      const float* dy = x.load(args.inputs[0], plane, dy_buffer);
      const float* values = x.load(args.inputs[1], plane, x_buffer);
      float mean[kCube] = {};
      std::copy_n(input(args, 3) + x.first_channel(plane), x.used(plane), mean);
      sum_and_products(x.inner, dy, values, mean, sums.first_of(plane), sums.second_of(plane));
    });
  }

  // dx = scale*(dy - dbias/n - (x - mean)*invstd*dweight/n) as one sum of dy, x and a constant.
  void channel(const KernelArgs& args, std::int64_t c) {
    const auto n = static_cast<float>(x.outer * x.inner);
    const float mean = input(args, 3)[c], last = input(args, 4)[c];
    const float invstd = kTraining ? last : 1 / std::sqrt(last + eps);
    const float weight = sums.total(1, c) * invstd, bias = sums.total(0, c);
    output(args, 1)[c] = weight;
    output(args, 2)[c] = bias;
    const float scale = input(args, 2)[c] * invstd, slope = weight * invstd / n;
    Lanes& of = lanes[static_cast<std::size_t>(c / kCube)];
    of.a[c % kCube] = scale;
    if (!kTraining) return;
    of.b[c % kCube] = -scale * slope;
    of.c[c % kCube] = scale * (mean * slope - bias / n);
  }

  void operator()(const KernelArgs& args) {
    reduce(args);
    parallel_ranges(x.channels, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t c = begin; c < end; ++c) channel(args, c);
    });
    scale_planes(x, lanes, args.inputs[0], kTraining ? args.inputs[1] : nullptr, args.outputs[0]);
  }
};

template <class Plan>
Launch prepare(const Problem& problem) {
  return [plan = std::make_shared<Plan>(problem)](const KernelArgs& args) { (*plan)(args); };
}

std::string refuse(const Problem& problem) {
  const TensorDesc& x = problem.inputs[0];
  if (x.format != Format::NC1HWC0) {
    return "the device's batch norm takes NC1HWC0, found " + std::string(name(x.format));
  }
  if (x.c0 != kCube) return "the device's batch norm takes blocks of 16 channels";
  return x.dtype == DType::bf16 ? "Ascend 910 has batch norm in fp16 and fp32, not in bf16" : "";
}

template <bool kTraining>
std::string refuse_mode(const Problem& problem) {
  if (problem.attrs.flag("training") == kTraining) return refuse(problem);
  return kTraining ? "BNTrainingUpdate is for training=true; bn_infer takes running statistics"
                   : "BNInfer is for training=false; bn_training_update makes statistics";
}

template <std::size_t kData>
std::size_t temporaries(const Problem& problem) {
  return ChannelSums::bytes(ChannelPlanes(problem.inputs[kData]));
}

const RegisteredKernel training{{
    .op = "batch_norm",
    .name = "bn_training_update",
    .summary = "BNTrainingReduce, BNTrainingUpdate: single-pass variance, two passes in all",
    .refusal = refuse_mode<true>,
    .prepare = prepare<Forward>,
    .temporary_bytes = temporaries<0>,
    .device_name = "BNTrainingUpdate",
}};

const RegisteredKernel inference{{
    .op = "batch_norm",
    .name = "bn_infer",
    .summary = "BNInfer: one multiplication and one addition an element",
    .refusal = refuse_mode<false>,
    .prepare = prepare<Forward>,
    .temporary_bytes = temporaries<0>,
    .device_name = "BNInfer",
}};

const RegisteredKernel gradient{{
    .op = "batch_norm_grad",
    .name = "bn_training_update_grad",
    .family = "bn_training_update",
    .summary = "BNTrainingUpdateGrad, BNTrainingReduceGrad: fp32 sums, two passes in all",
    .refusal = refuse,
    .prepare = prepare<Backward<true>>,
    .temporary_bytes = temporaries<1>,
    .device_name = "BNTrainingUpdateGrad",
}};

const RegisteredKernel inference_gradient{{
    .op = "batch_norm_infer_grad",
    .name = "bn_infer_grad",
    .family = "bn_infer",
    .summary = "BNTrainingUpdateGrad of the running statistics, BNInferGrad: a product an element",
    .refusal = refuse,
    .prepare = prepare<Backward<false>>,
    .temporary_bytes = temporaries<1>,
    .device_name = "BNInferGrad",
}};

}  // namespace
}  // namespace opbench
