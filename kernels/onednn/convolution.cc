// oneDNN's convolution, forward and backward. The primitive selects its layouts. Tensors in other
// layouts are reordered within the timed region, including the weight, because it is an input of
// each call.
#include <memory>
#include <unordered_map>
#include <utility>

#include "kernels/onednn/conv2d_storage.h"
#include "kernels/onednn/primitive.h"

namespace opbench {
namespace {

using onednn::Activations;
using onednn::Operand;
using onednn::Weight;
using Desc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;

// The descriptions of tensors in any layout, and as they are stored.
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

// The geometry in oneDNN's form.
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

// A primitive with two input tensors and one output, each in the primitive's layout.
struct Convolution {
  dnnl::primitive primitive;
  Operand first, second, result;
  std::unordered_map<int, dnnl::memory> arguments;

  Convolution(const dnnl::primitive& of, std::pair<int, Operand> a, std::pair<int, Operand> b,
              std::pair<int, Operand> c)
      : primitive(of),
        first(a.second),
        second(b.second),
        result(c.second),
        arguments{
            {a.first, first.memory()}, {b.first, second.memory()}, {c.first, result.memory()}} {}

  void run(const void* a, const void* b, void* c) {
    onednn::match_threads();
    first.bind(a), second.bind(b), result.bind(c);
    first.load();
    second.load();
    primitive.execute(onednn::stream(), arguments);
    result.store();
    onednn::stream().wait();
  }
};

std::pair<int, Operand> operand(int name, Operand::Direction direction, const Desc& stored,
                                const Desc& wanted) {
  return {name, Operand(direction, stored, wanted)};
}

Launch forward(const Problem& problem) {
  onednn::match_threads();
  const Conv2d conv = conv2d_shape(problem);
  const DType dtype = problem.inputs[0].dtype;
  const Descs x = activations(problem.inputs[0]), y = activations(problem.outputs[0]),
              w = weights(conv, dtype);
  const Desc bias_desc = onednn::view_desc(dtype, dense_view({conv.m}));
  const bool has_bias = problem.inputs.size() > 2;
  const auto desc = forward_desc(conv, dnnl::prop_kind::forward_inference, x.any, w.any,
                                 has_bias ? &bias_desc : nullptr, y.any);
  const auto plan = std::make_shared<Convolution>(
      dnnl::convolution_forward(desc),
      operand(DNNL_ARG_SRC, Operand::input, x.stored, desc.src_desc()),
      operand(DNNL_ARG_WEIGHTS, Operand::input, w.stored, desc.weights_desc()),
      operand(DNNL_ARG_DST, Operand::output, y.stored, desc.dst_desc()));
  const dnnl::memory bias(bias_desc, onednn::engine(), DNNL_MEMORY_NONE);
  if (has_bias) plan->arguments.emplace(DNNL_ARG_BIAS, bias);
  return [plan, bias, has_bias, input = std::make_shared<Activations>(problem.inputs[0]),
          weight = std::make_shared<Weight>(problem, problem.inputs[1])](const KernelArgs& args) {
    if (has_bias) bias.set_data_handle(const_cast<void*>(args.inputs[2]));
    plan->run(input->cleared(args.inputs[0]), weight->unpacked(args.inputs[1]), args.outputs[0]);
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
  const auto plan = std::make_shared<Convolution>(
      dnnl::convolution_backward_data(desc),
      operand(DNNL_ARG_DIFF_DST, Operand::input, dy.stored, desc.diff_dst_desc()),
      operand(DNNL_ARG_WEIGHTS, Operand::input, w.stored, desc.weights_desc()),
      operand(DNNL_ARG_DIFF_SRC, Operand::output, dx.stored, desc.diff_src_desc()));
  return [plan, gradient = std::make_shared<Activations>(problem.inputs[0]),
          weight = std::make_shared<Weight>(problem, problem.inputs[1])](const KernelArgs& args) {
    plan->run(gradient->cleared(args.inputs[0]), weight->unpacked(args.inputs[1]), args.outputs[0]);
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
  const auto plan = std::make_shared<Convolution>(
      dnnl::convolution_backward_weights(desc),
      operand(DNNL_ARG_DIFF_DST, Operand::input, dy.stored, desc.diff_dst_desc()),
      operand(DNNL_ARG_SRC, Operand::input, x.stored, desc.src_desc()),
      operand(DNNL_ARG_DIFF_WEIGHTS, Operand::output, dw.stored, desc.diff_weights_desc()));
  return [plan, gradient = std::make_shared<Activations>(problem.inputs[0]),
          input = std::make_shared<Activations>(problem.inputs[1]),
          weight = std::make_shared<Weight>(problem, problem.outputs[0])](const KernelArgs& args) {
    plan->run(gradient->cleared(args.inputs[0]), input->cleared(args.inputs[1]),
              weight->unpacked(args.outputs[0]));
    weight->pack(args.outputs[0]);
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

// A copy of every tensor: in the primitive's layout, and with cleared lanes or an unpacked
// FRACTAL_Z.
std::size_t temporaries(const Problem& problem) {
  std::size_t bytes = 0;
  for (const auto* tensors : {&problem.inputs, &problem.outputs}) {
    for (const TensorDesc& tensor : *tensors) bytes += 2 * tensor.bytes();
  }
  return bytes;
}

Kernel convolution(std::string_view op, std::string_view summary,
                   Launch (*prepare)(const Problem&)) {
  return {.op = op,
          .name = "onednn",
          .provider = Provider::vendor,
          .summary = summary,
          .refusal = refuse,
          .prepare = prepare,
          .sums_by_thread = true,
          .temporary_bytes = temporaries};
}

const RegisteredKernel kernels[] = {
    RegisteredKernel(
        convolution("conv2d", "oneDNN convolution in its own layouts, reorders included", forward)),
    RegisteredKernel(convolution(
        "conv2d_grad_input", "oneDNN convolution backward by data, reorders included", grad_input)),
    RegisteredKernel(convolution("conv2d_grad_weight",
                                 "oneDNN convolution backward by weights, reorders included",
                                 grad_weight)),
};

}  // namespace
}  // namespace opbench
