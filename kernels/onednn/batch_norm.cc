// oneDNN's batch normalisation as a variant of batch_norm and its gradient. The primitive provides
// the variance of a batch. Running statistics and inverse deviations are computed from it within
// the timed region.
#include <algorithm>
#include <cmath>
#include <memory>
#include <unordered_map>

#include "kernels/onednn/primitive.h"
#include "ops/channels.h"

namespace opbench {
namespace {

using Flags = dnnl::normalization_flags;
using Memory = dnnl::memory;

const float* input(const KernelArgs& args, std::size_t i) {
  return static_cast<const float*>(args.inputs[i]);
}
float* output(const KernelArgs& args, std::size_t i) {
  return static_cast<float*>(args.outputs[i]);
}

Memory::desc data_desc(const TensorDesc& desc) {
  if (desc.format == Format::NC1HWC0) return onednn::memory_desc(desc);
  const ChannelView view = channel_view("batch_norm", "self", desc);
  return onednn::view_desc(desc.dtype, dense_view({view.outer, view.channels, view.inner, 1}));
}

// Memory that is a tensor of the call, or an own temporary.
Memory unbound(const Memory::desc& desc) { return {desc, onednn::engine(), DNNL_MEMORY_NONE}; }
Memory owned(const Memory::desc& desc) { return {desc, onednn::engine()}; }

void bind(Memory& memory, const void* data) { memory.set_data_handle(const_cast<void*>(data)); }

struct Forward {
  bool training;
  double n, momentum, eps;
  std::int64_t channels;
  dnnl::primitive primitive;
  Memory x, weight, bias, mean, variance, y;

  explicit Forward(const Problem& problem)
      : training(problem.attrs.flag("training")),
        momentum(problem.attrs.number("momentum")),
        eps(problem.attrs.number("eps")) {
    const ChannelView view = channel_view("batch_norm", "self", problem.inputs[0]);
    n = double(view.count());
    channels = view.channels;
    const Memory::desc data = data_desc(problem.inputs[0]);
    const Memory::desc vector = onednn::view_desc(DType::fp32, dense_view({channels}));
    const Flags scaled = Flags::use_scale | Flags::use_shift;
    primitive = dnnl::batch_normalization_forward(dnnl::batch_normalization_forward::primitive_desc(
        {training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference, data,
         static_cast<float>(eps), training ? scaled : scaled | Flags::use_global_stats},
        onednn::engine()));
    x = unbound(data), y = unbound(data);
    weight = unbound(vector), bias = unbound(vector), mean = unbound(vector);
    variance = training ? owned(vector) : unbound(vector);
  }

  void finish(const KernelArgs& args) const {
    const auto* var = static_cast<const float*>(variance.get_data_handle());
    for (std::int64_t c = 0; c < channels; ++c) {
      const double of_batch = double(var[c]);
      output(args, kRunningMean)[c] = float((1 - momentum) * double(input(args, 3)[c]) +
                                            momentum * double(output(args, kSaveMean)[c]));
      output(args, kRunningVar)[c] =
          float((1 - momentum) * double(input(args, 4)[c]) + momentum * (of_batch * (n / (n - 1))));
      output(args, kSaveInvstd)[c] = float(1 / std::sqrt(of_batch + eps));
    }
  }

  void operator()(const KernelArgs& args) {
    onednn::match_threads();
    bind(x, args.inputs[0]), bind(weight, args.inputs[1]), bind(bias, args.inputs[2]);
    bind(mean, training ? args.outputs[kSaveMean] : args.inputs[3]);
    if (!training) bind(variance, args.inputs[4]);
    bind(y, args.outputs[kResult]);
    primitive.execute(onednn::stream(), {{DNNL_ARG_SRC, x},
                                         {DNNL_ARG_SCALE, weight},
                                         {DNNL_ARG_SHIFT, bias},
                                         {DNNL_ARG_MEAN, mean},
                                         {DNNL_ARG_VARIANCE, variance},
                                         {DNNL_ARG_DST, y}});
    onednn::stream().wait();
    if (training) finish(args);
  }
};

// kTraining: uses the variance of the saved inverse deviation, to which the primitive adds no eps;
// else the running variance.
template <bool kTraining>
struct Backward {
  std::int64_t channels;
  dnnl::primitive primitive;
  Memory x, dy, weight, bias, mean, variance, dx, dweight, dbias;

  explicit Backward(const Problem& problem)
      : channels(channel_view(problem.op->name, "self", problem.inputs[1]).channels) {
    const float eps = kTraining ? 0.0f : static_cast<float>(problem.attrs.number("eps"));
    const Memory::desc data = data_desc(problem.inputs[1]);
    const Memory::desc vector = onednn::view_desc(DType::fp32, dense_view({channels}));
    Flags flags = Flags::use_scale | Flags::use_shift;
    if (!kTraining) flags = flags | Flags::use_global_stats;
    const dnnl::batch_normalization_forward::primitive_desc forward(
        {dnnl::prop_kind::forward_training, data, eps, flags}, onednn::engine());
    primitive =
        dnnl::batch_normalization_backward(dnnl::batch_normalization_backward::primitive_desc(
            {dnnl::prop_kind::backward, data, data, eps, flags}, onednn::engine(), forward));
    x = unbound(data), dy = unbound(data), dx = unbound(data);
    weight = unbound(vector), mean = unbound(vector);
    variance = kTraining ? owned(vector) : unbound(vector);
    bias = owned(vector);  // required, though no gradient depends on it
    std::fill_n(static_cast<float*>(bias.get_data_handle()), channels, 0.0f);
    dweight = unbound(vector), dbias = unbound(vector);
  }

  void bind_variance(const KernelArgs& args) {
    if (!kTraining) return bind(variance, args.inputs[4]);
    auto* var = static_cast<float*>(variance.get_data_handle());
    for (std::int64_t c = 0; c < channels; ++c) {
      var[c] = 1 / (input(args, 4)[c] * input(args, 4)[c]);
    }
  }

  void operator()(const KernelArgs& args) {
    onednn::match_threads();
    bind_variance(args);
    bind(dy, args.inputs[0]), bind(x, args.inputs[1]), bind(weight, args.inputs[2]);
    bind(mean, args.inputs[3]);
    bind(dx, args.outputs[0]), bind(dweight, args.outputs[1]), bind(dbias, args.outputs[2]);
    primitive.execute(onednn::stream(), {{DNNL_ARG_SRC, x},
                                         {DNNL_ARG_DIFF_DST, dy},
                                         {DNNL_ARG_SCALE, weight},
                                         {DNNL_ARG_SHIFT, bias},
                                         {DNNL_ARG_MEAN, mean},
                                         {DNNL_ARG_VARIANCE, variance},
                                         {DNNL_ARG_DIFF_SRC, dx},
                                         {DNNL_ARG_DIFF_SCALE, dweight},
                                         {DNNL_ARG_DIFF_SHIFT, dbias}});
    onednn::stream().wait();
  }
};

template <class Plan>
Launch prepare(const Problem& problem) {
  onednn::match_threads();
  return [plan = std::make_shared<Plan>(problem)](const KernelArgs& args) { (*plan)(args); };
}

std::string refuse(const Problem& problem) {
  const TensorDesc& x = problem.inputs[0];
  if (const std::string reason = onednn::refusal(x); !reason.empty()) return reason;
  if (x.format == Format::NC1HWC0 && x.shape[1] % 16 != 0) {
    return "oneDNN expects zeros in the lanes past the last channel, which NC1HWC0 need not hold";
  }
  return {};
}

const RegisteredKernel batch_norm{{
    .op = "batch_norm",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN batch normalization; running statistics made from its variance",
    .refusal = refuse,
    .prepare = prepare<Forward>,
    .sums_by_thread = true,
}};

const RegisteredKernel batch_norm_grad{{
    .op = "batch_norm_grad",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN batch normalization, backward",
    .refusal = refuse,
    .prepare = prepare<Backward<true>>,
    .sums_by_thread = true,
}};

const RegisteredKernel batch_norm_infer_grad{{
    .op = "batch_norm_infer_grad",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN batch normalization by given statistics, backward",
    .refusal = refuse,
    .prepare = prepare<Backward<false>>,
    .sums_by_thread = true,
}};

}  // namespace
}  // namespace opbench
