// oneDNN's convolution, forward and backward. The primitive chooses its layouts; what is stored
// otherwise is reordered within the timed region, the weight too, since it is an input of each
// call.
#include <cstring>
#include <memory>
#include <optional>
#include <unordered_map>

#include "kernels/conv2d_blocks.h"
#include "kernels/onednn/movement.h"
#include "kernels/onednn/operand.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

using onednn::Operand;
using Desc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;

// How tensors of any layout and as they are stored look like.
struct Descs {
  Desc any, stored;
};

Descs activations(const TensorDesc& desc) {
  const Desc stored = onednn::memory_desc(desc);
  return {{desc.shape, stored.data_type(), Tag::any}, stored};
}

Descs weights(const Conv2d& conv, DType dtype) {
  const Dims shape = {conv.groups, conv.group_m(), conv.group_c(), conv.window.kernel.h,
                      conv.window.kernel.w};
  const Desc stored = onednn::view_desc(dtype, dense_view(shape));
  if (conv.groups > 1) return {{shape, stored.data_type(), Tag::any}, stored};
  const Dims plain(shape.begin() + 1, shape.end());
  return {{plain, stored.data_type(), Tag::any}, onednn::view_desc(dtype, dense_view(plain))};
}

// NC1HWC0 as oneDNN reads it: lanes past the last channel are zeros and not whatever they hold.
class Activations {
 public:
  explicit Activations(const TensorDesc& desc) {
    if (desc.format != Format::NC1HWC0 || desc.shape[1] % kCube == 0) return;
    planes_.emplace(desc);
    cleared_ = Buffer(desc.bytes());
  }
  const void* cleared(const void* from) const {
    if (!planes_) return from;
    const std::size_t lane = size_of(planes_->dtype);
    parallel_blocks(planes_->count(), [&](std::int64_t plane) {
      auto* to = static_cast<std::byte*>(planes_->address(cleared_.data(), plane));
      std::memcpy(to, planes_->address(from, plane),
                  static_cast<std::size_t>(planes_->elements()) * lane);
      const auto used = static_cast<std::size_t>(planes_->used(plane));
      for (std::int64_t i = 0; used < kCube && i < planes_->inner; ++i, to += kCube * lane) {
        std::memset(to + used * lane, 0, (kCube - used) * lane);
      }
    });
    return cleared_.data();
  }

 private:
  std::optional<ChannelPlanes> planes_;
  Buffer cleared_;
};

// A weight in FRACTAL_Z beside a plain copy; plain weights are used in place.
class Weight {
 public:
  Weight(const Problem& problem, const TensorDesc& desc) : size_(size_of(desc.dtype)) {
    if (desc.format != Format::FRACTAL_Z) return;
    fractal_.emplace(problem, desc);
    plain_ = Buffer(static_cast<std::size_t>(desc.elements()) * size_);
  }
  const void* unpacked(const void* from) const {
    if (!fractal_) return from;
    for_each_element([&](std::size_t packed, std::size_t plain) {
      std::memcpy(static_cast<std::byte*>(plain_.data()) + plain,
                  static_cast<const std::byte*>(from) + packed, size_);
    });
    return plain_.data();
  }
  void* unpacked(void* to) const { return fractal_ ? plain_.data() : to; }
  void pack(void* to) const {
    if (!fractal_) return;
    for_each_element([&](std::size_t packed, std::size_t plain) {
      std::memcpy(static_cast<std::byte*>(to) + packed,
                  static_cast<const std::byte*>(plain_.data()) + plain, size_);
    });
  }

 private:
  // Calls copy(byte in FRACTAL_Z, byte in [M, C/groups, KH, KW]).
  template <class Copy>
  void for_each_element(Copy copy) const {
    const Conv2d& conv = fractal_->conv;
    parallel_ranges(conv.m, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t m = begin; m < end; ++m) {
        const std::int64_t group = m / conv.group_m(), block = group / fractal_->fractal.together;
        const std::int64_t first = group % fractal_->fractal.together * conv.group_c();
        for (std::int64_t k = 0; k < conv.terms(); ++k) {
          const std::int64_t channel = first + k / conv.taps();
          const std::int64_t packed =
              fractal_->offset(block, k % conv.taps(), m - fractal_->first_output(block), channel) +
              channel % kCube;
          copy(static_cast<std::size_t>(packed) * size_,
               static_cast<std::size_t>(m * conv.terms() + k) * size_);
        }
      }
    });
  }

  std::size_t size_;
  std::optional<FractalWeight> fractal_;
  Buffer plain_;
};

// The geometry as oneDNN takes it.
struct Geometry {
  dnnl::memory::dims strides, dilates, padding;

  explicit Geometry(const Window& w)
      : strides{w.stride.h, w.stride.w},
        dilates{w.dilation.h - 1, w.dilation.w - 1},
        padding{w.padding.h, w.padding.w} {}
};

dnnl::convolution_forward::primitive_desc forward_desc(const Conv2d& conv, dnnl::prop_kind kind,
                                                       const Desc& x, const Desc& weight,
                                                       const Desc* bias, const Desc& y) {
  const Geometry g(conv.window);
  constexpr auto kDirect = dnnl::algorithm::convolution_direct;
  if (bias == nullptr) {
    return {{kind, kDirect, x, weight, y, g.strides, g.dilates, g.padding, g.padding},
            onednn::engine()};
  }
  return {{kind, kDirect, x, weight, *bias, y, g.strides, g.dilates, g.padding, g.padding},
          onednn::engine()};
}

void run(const dnnl::primitive& primitive, Operand& first, Operand& second, Operand& result,
         const std::unordered_map<int, dnnl::memory>& arguments) {
  onednn::match_threads();
  first.load();
  second.load();
  primitive.execute(onednn::stream(), arguments);
  result.store();
  onednn::stream().wait();
}

Launch forward(const Problem& problem) {
  onednn::match_threads();
  const Conv2d conv = conv2d_shape(problem);
  const DType dtype = problem.inputs[0].dtype;
  const Descs x = activations(problem.inputs[0]), y = activations(problem.outputs[0]),
              w = weights(conv, dtype);
  const Desc bias = onednn::view_desc(dtype, dense_view({conv.m}));
  const bool has_bias = problem.inputs.size() > 2;
  const auto desc = forward_desc(conv, dnnl::prop_kind::forward_inference, x.any, w.any,
                                 has_bias ? &bias : nullptr, y.any);
  struct Plan {
    dnnl::convolution_forward primitive;
    Activations activations;
    Weight weight;
    Operand x, w, y;
    dnnl::memory bias;
    std::unordered_map<int, dnnl::memory> arguments;
  };
  const auto plan =
      std::make_shared<Plan>(Plan{dnnl::convolution_forward(desc),
                                  Activations(problem.inputs[0]),
                                  Weight(problem, problem.inputs[1]),
                                  Operand(Operand::input, x.stored, desc.src_desc()),
                                  Operand(Operand::input, w.stored, desc.weights_desc()),
                                  Operand(Operand::output, y.stored, desc.dst_desc()),
                                  dnnl::memory(bias, onednn::engine(), DNNL_MEMORY_NONE),
                                  {}});
  plan->arguments = {{DNNL_ARG_SRC, plan->x.memory()},
                     {DNNL_ARG_WEIGHTS, plan->w.memory()},
                     {DNNL_ARG_DST, plan->y.memory()}};
  if (has_bias) plan->arguments.emplace(DNNL_ARG_BIAS, plan->bias);
  return [plan, has_bias](const KernelArgs& args) {
    plan->x.bind(plan->activations.cleared(args.inputs[0]));
    plan->w.bind(plan->weight.unpacked(args.inputs[1]));
    plan->y.bind(args.outputs[0]);
    if (has_bias) plan->bias.set_data_handle(const_cast<void*>(args.inputs[2]));
    run(plan->primitive, plan->x, plan->w, plan->y, plan->arguments);
  };
}

Launch grad_input(const Problem& problem) {
  onednn::match_threads();
  const Conv2d conv = conv2d_shape(problem);
  const Descs dy = activations(problem.inputs[0]), dx = activations(problem.outputs[0]),
              w = weights(conv, problem.inputs[0].dtype);
  const Geometry g(conv.window);
  const dnnl::convolution_backward_data::primitive_desc desc(
      {dnnl::algorithm::convolution_direct, dx.any, w.any, dy.any, g.strides, g.dilates, g.padding,
       g.padding},
      onednn::engine(),
      forward_desc(conv, dnnl::prop_kind::forward_training, dx.any, w.any, nullptr, dy.any));
  struct Plan {
    dnnl::convolution_backward_data primitive;
    Activations activations;
    Weight weight;
    Operand dy, w, dx;
    std::unordered_map<int, dnnl::memory> arguments;
  };
  const auto plan =
      std::make_shared<Plan>(Plan{dnnl::convolution_backward_data(desc),
                                  Activations(problem.inputs[0]),
                                  Weight(problem, problem.inputs[1]),
                                  Operand(Operand::input, dy.stored, desc.diff_dst_desc()),
                                  Operand(Operand::input, w.stored, desc.weights_desc()),
                                  Operand(Operand::output, dx.stored, desc.diff_src_desc()),
                                  {}});
  plan->arguments = {{DNNL_ARG_DIFF_DST, plan->dy.memory()},
                     {DNNL_ARG_WEIGHTS, plan->w.memory()},
                     {DNNL_ARG_DIFF_SRC, plan->dx.memory()}};
  return [plan](const KernelArgs& args) {
    plan->dy.bind(plan->activations.cleared(args.inputs[0]));
    plan->w.bind(plan->weight.unpacked(args.inputs[1]));
    plan->dx.bind(args.outputs[0]);
    run(plan->primitive, plan->dy, plan->w, plan->dx, plan->arguments);
  };
}

Launch grad_weight(const Problem& problem) {
  onednn::match_threads();
  const Conv2d conv = conv2d_shape(problem);
  const Descs dy = activations(problem.inputs[0]), x = activations(problem.inputs[1]),
              dw = weights(conv, problem.inputs[0].dtype);
  const Geometry g(conv.window);
  const dnnl::convolution_backward_weights::primitive_desc desc(
      {dnnl::algorithm::convolution_direct, x.any, dw.any, dy.any, g.strides, g.dilates, g.padding,
       g.padding},
      onednn::engine(),
      forward_desc(conv, dnnl::prop_kind::forward_training, x.any, dw.any, nullptr, dy.any));
  struct Plan {
    dnnl::convolution_backward_weights primitive;
    Activations gradients, activations;
    Weight weight;
    Operand dy, x, dw;
    std::unordered_map<int, dnnl::memory> arguments;
  };
  const auto plan =
      std::make_shared<Plan>(Plan{dnnl::convolution_backward_weights(desc),
                                  Activations(problem.inputs[0]),
                                  Activations(problem.inputs[1]),
                                  Weight(problem, problem.outputs[0]),
                                  Operand(Operand::input, dy.stored, desc.diff_dst_desc()),
                                  Operand(Operand::input, x.stored, desc.src_desc()),
                                  Operand(Operand::output, dw.stored, desc.diff_weights_desc()),
                                  {}});
  plan->arguments = {{DNNL_ARG_DIFF_DST, plan->dy.memory()},
                     {DNNL_ARG_SRC, plan->x.memory()},
                     {DNNL_ARG_DIFF_WEIGHTS, plan->dw.memory()}};
  return [plan](const KernelArgs& args) {
    plan->dy.bind(plan->gradients.cleared(args.inputs[0]));
    plan->x.bind(plan->activations.cleared(args.inputs[1]));
    plan->dw.bind(plan->weight.unpacked(args.outputs[0]));
    run(plan->primitive, plan->dy, plan->x, plan->dw, plan->arguments);
    plan->weight.pack(args.outputs[0]);
  };
}

std::string refuse(const Problem& problem) {
  for (const auto* tensors : {&problem.inputs, &problem.outputs}) {
    for (const TensorDesc& tensor : *tensors) {
      TensorDesc plain = tensor;
      if (tensor.format == Format::FRACTAL_Z) plain = describe(tensor.dtype, tensor.shape);
      if (const std::string reason = onednn::refusal(plain); !reason.empty()) return reason;
    }
  }
  return {};
}

// Every tensor once more: in the primitive's layout, and where lanes are cleared or FRACTAL_Z is
// unpacked.
std::size_t temporaries(const Problem& problem) {
  std::size_t bytes = 0;
  for (const auto* tensors : {&problem.inputs, &problem.outputs}) {
    for (const TensorDesc& tensor : *tensors) bytes += 2 * tensor.bytes();
  }
  return bytes;
}

const RegisteredKernel conv2d{{
    .op = "conv2d",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN convolution in its own layouts, reorders included",
    .refusal = refuse,
    .prepare = forward,
    .sums_by_thread = true,
    .temporary_bytes = temporaries,
}};

const RegisteredKernel conv2d_grad_input{{
    .op = "conv2d_grad_input",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN convolution backward by data, reorders included",
    .refusal = refuse,
    .prepare = grad_input,
    .sums_by_thread = true,
    .temporary_bytes = temporaries,
}};

const RegisteredKernel conv2d_grad_weight{{
    .op = "conv2d_grad_weight",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN convolution backward by weights, reorders included",
    .refusal = refuse,
    .prepare = grad_weight,
    .sums_by_thread = true,
    .temporary_bytes = temporaries,
}};

}  // namespace
}  // namespace opbench
