// BNTrainingReduce and BNTrainingUpdate, BNInfer, and the gradient's BNTrainingUpdateGrad and
// BNTrainingReduceGrad, all in fp32. The single-pass variance E[x^2] - E[x]^2 cancels if the mean
// is large compared with the deviation. Source: CANN's bn_training_reduce.py,
// bn_training_update.py.
#include <cmath>
#include <memory>

#include "kernels/simd/channel_planes.h"
#include "kernels/simd/lane_planes.h"
#include "ops/channels.h"

namespace opbench {
namespace {

const float* input(const KernelArgs& args, std::size_t i) {
  return static_cast<const float*>(args.inputs[i]);
}
float* output(const KernelArgs& args, std::size_t i) {
  return static_cast<float*>(args.outputs[i]);
}

std::size_t plane_bytes(const ChannelPlanes& planes) {
  return static_cast<std::size_t>(planes.elements()) * size_of(planes.dtype);
}

// Sums of two terms over the planes of every channel in fp32: first within a plane, then over the
// planes in order. The result is the same for every number of threads.
struct ChannelSums {
  std::vector<LanePair> of_planes;

  explicit ChannelSums(const ChannelPlanes& x) : of_planes(static_cast<std::size_t>(x.count())) {}

  LanePair total(const ChannelPlanes& x, std::int64_t block) const {
    LanePair sum{};
    for (std::int64_t n = 0; n < x.outer; ++n) {
      const LanePair& plane = of_planes[static_cast<std::size_t>(n * x.planes + block)];
      for (std::size_t lane = 0; lane < kCube; ++lane) {
        sum.first[lane] += plane.first[lane];
        sum.second[lane] += plane.second[lane];
      }
    }
    return sum;
  }

  static std::size_t bytes(const ChannelPlanes& x) {
    return static_cast<std::size_t>(x.count()) * sizeof(LanePair);
  }
};

// The base of both directions: sums by channel, then a multiplication and an addition.
struct Passes {
  ChannelPlanes x;
  ChannelSums sums;
  TwoPasses order;
  bool stream;
  std::vector<LaneScales> scales;

  Passes(const Problem& problem, const TensorDesc& data, std::size_t inputs)
      : x(data),
        sums(x),
        order(x, inputs * plane_bytes(x)),
        stream(outgrows_cache(problem)),
        scales(static_cast<std::size_t>(x.planes)) {}

  LanePlanes planes(std::int64_t first, std::int64_t last) const {
    return {x.dtype, x.inner, first, last, x.planes, stream};
  }
  // y = a*x + b*z + c; without z, a*x + c.
  void scale(std::int64_t first, std::int64_t last, const void* from, const void* z,
             void* y) const {
    scale_lanes(planes(first, last), stream, scales.data(), from, z, y);
  }
  // Calls body(channel, scales, lane) for the channels of a block.
  template <class Body>
  void for_each_channel(std::int64_t block, const Body& body) {
    const std::int64_t used = std::min(kCube, x.channels - block * kCube);
    LaneScales& of = scales[static_cast<std::size_t>(block)];
    for (std::int64_t lane = 0; lane < used; ++lane) body(block * kCube + lane, of, lane);
  }
};

struct Forward {
  Passes passes;
  bool training;
  float momentum, eps;

  explicit Forward(const Problem& problem)
      : passes(problem, problem.inputs[0], 1),
        training(problem.attrs.flag("training")),
        momentum(static_cast<float>(problem.attrs.number("momentum"))),
        eps(static_cast<float>(problem.attrs.number("eps"))) {}

  // Sets a and c for y = weight*(x - mean)/sqrt(variance + eps) + bias = a*x + c.
  void normalise(const KernelArgs& args, std::int64_t c, float mean, float variance, LaneScales& of,
                 std::int64_t lane) const {
    of.a[lane] = input(args, 1)[c] / std::sqrt(variance + eps);
    of.c[lane] = input(args, 2)[c] - of.a[lane] * mean;
  }

  void finish_training(const KernelArgs& args, std::int64_t block) {
    const LanePair sum = passes.sums.total(passes.x, block);
    const auto n = static_cast<float>(passes.x.outer * passes.x.inner);
    passes.for_each_channel(block, [&](std::int64_t c, LaneScales& of, std::int64_t lane) {
      const float mean = sum.first[lane] / n;
      // Rounding may make the difference negative.
      const float variance = std::max(sum.second[lane] / n - mean * mean, 0.0f);
      output(args, kRunningMean)[c] = momentum * mean + (1 - momentum) * input(args, 3)[c];
      output(args, kRunningVar)[c] =
          momentum * (variance * (n / (n - 1))) + (1 - momentum) * input(args, 4)[c];
      output(args, kSaveMean)[c] = mean;
      output(args, kSaveInvstd)[c] = 1 / std::sqrt(variance + eps);
      normalise(args, c, mean, variance, of, lane);
    });
  }

  void train(const KernelArgs& args) {
    passes.order.run(
        [&](std::int64_t first, std::int64_t last) {
          sum_and_squares(passes.planes(first, last), args.inputs[0], passes.sums.of_planes.data());
        },
        [&](std::int64_t block) { finish_training(args, block); },
        [&](std::int64_t first, std::int64_t last) {
          passes.scale(first, last, args.inputs[0], nullptr, args.outputs[kResult]);
        });
  }

  void infer(const KernelArgs& args) {
    for (std::int64_t block = 0; block < passes.x.planes; ++block) {
      passes.for_each_channel(block, [&](std::int64_t c, LaneScales& of, std::int64_t lane) {
        normalise(args, c, input(args, 3)[c], input(args, 4)[c], of, lane);
      });
    }
    parallel_ranges(passes.x.count(), 1, [&](std::int64_t first, std::int64_t last) {
      passes.scale(first, last, args.inputs[0], nullptr, args.outputs[kResult]);
    });
  }

  void operator()(const KernelArgs& args) {
    if (training) return train(args);
    infer(args);
  }
};

// kTraining: the statistics depend on x; otherwise they are constants. kVariance: input 4 is a
// variance, else the inverse deviation of the batch.
template <bool kTraining, bool kVariance = !kTraining>
struct Backward {
  Passes passes;
  float eps;
  std::vector<float> mean;  // whole blocks

  explicit Backward(const Problem& problem)
      : passes(problem, problem.inputs[1], 2),
        eps(kVariance ? static_cast<float>(problem.attrs.number("eps")) : 0),
        mean(static_cast<std::size_t>(passes.x.planes * kCube)) {}

  // Writes dx = scale*(dy - dbias/n - (x - mean)*invstd*dweight/n) as one sum of dy, x and a
  // constant.
  void finish(const KernelArgs& args, std::int64_t block) {
    const LanePair sum = passes.sums.total(passes.x, block);
    const auto n = static_cast<float>(passes.x.outer * passes.x.inner);
    passes.for_each_channel(block, [&](std::int64_t c, LaneScales& of, std::int64_t lane) {
      const float last = input(args, 4)[c], invstd = kVariance ? 1 / std::sqrt(last + eps) : last;
      const float weight = sum.second[lane] * invstd, bias = sum.first[lane];
      output(args, 1)[c] = weight;
      output(args, 2)[c] = bias;
      const float scale = input(args, 2)[c] * invstd, slope = weight * invstd / n;
      of.a[lane] = scale;
      if (!kTraining) return;
      of.b[lane] = -scale * slope;
      of.c[lane] = scale * (input(args, 3)[c] * slope - bias / n);
    });
  }

  void operator()(const KernelArgs& args) {
    std::copy_n(input(args, 3), passes.x.channels, mean.begin());
    passes.order.run(
        [&](std::int64_t first, std::int64_t last) {
          sum_and_products(passes.planes(first, last), args.inputs[0], args.inputs[1], mean.data(),
                           passes.sums.of_planes.data());
        },
        [&](std::int64_t block) { finish(args, block); },
        [&](std::int64_t first, std::int64_t last) {
          passes.scale(first, last, args.inputs[0], kTraining ? args.inputs[1] : nullptr,
                       args.outputs[0]);
        });
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
    .provider = Provider::npu,
    .summary = "BNTrainingReduce, BNTrainingUpdate: single-pass variance, two passes in all",
    .refusal = refuse_mode<true>,
    .prepare = prepare<Forward>,
    .temporary_bytes = temporaries<0>,
    .device_name = "BNTrainingUpdate",
}};

const RegisteredKernel inference{{
    .op = "batch_norm",
    .name = "bn_infer",
    .provider = Provider::npu,
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
    .provider = Provider::npu,
    .summary = "BNTrainingUpdateGrad, BNTrainingReduceGrad: fp32 sums, two passes in all",
    .refusal = refuse,
    .prepare = prepare<Backward<true>>,
    .temporary_bytes = temporaries<1>,
    .device_name = "BNTrainingUpdateGrad",
}};

const RegisteredKernel gradient_of_variance{{
    .op = "batch_norm_variance_grad",
    .name = "bn_training_update_grad",
    .family = "bn_training_update",
    .provider = Provider::npu,
    .summary = "BNTrainingUpdateGrad, BNTrainingReduceGrad: fp32 sums, two passes in all",
    .refusal = refuse,
    .prepare = prepare<Backward<true, true>>,
    .temporary_bytes = temporaries<1>,
    .device_name = "BNTrainingUpdateGrad",
}};

const RegisteredKernel inference_gradient{{
    .op = "batch_norm_infer_grad",
    .name = "bn_infer_grad",
    .family = "bn_infer",
    .provider = Provider::npu,
    .summary = "BNTrainingUpdateGrad of the running statistics, BNInferGrad: a product an element",
    .refusal = refuse,
    .prepare = prepare<Backward<false>>,
    .temporary_bytes = temporaries<1>,
    .device_name = "BNInferGrad",
}};

}  // namespace
}  // namespace opbench
