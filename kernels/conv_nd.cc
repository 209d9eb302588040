// Convolutions of sequences and volumes by the kernels of planes, and their gradients.
#include "ops/conv_nd.h"

#include <memory>

#include "kernels/kernel.h"
#include "kernels/simd/in_fp32.h"
#include "kernels/simd/scratch.h"

namespace opbench {
namespace {

/// A tensor in fp32 as the kernel of the planes takes it: in place, or rearranged and stored in the
/// device's format.
class PlaneTensor {
 public:
  /// `planes`: the tensor that the kernel takes.
  PlaneTensor(const ConvNd& conv, ConvRole role, const TensorDesc& planes, bool is_result)
      : conv_(conv), role_(role) {
    const bool is_moved = !conv.is_flat() && (role == ConvRole::x || role == ConvRole::y);
    if (is_moved) moved_ = std::make_shared<Scratch>(planes.elements());
    if (!is_private(planes.format)) return;
    blocked_ = std::make_shared<Scratch>(planes.storage_elements());
    Problem cast = trans_data(planes);
    if (is_result) std::swap(cast.inputs, cast.outputs);
    if (is_result) cast.attrs.put("dst_format", std::string(name(cast.outputs[0].format)));
    cast_ = kernels_of("trans_data").front()->prepare(cast);
  }

  static std::size_t bytes(const ConvNd& conv, ConvRole role, const TensorDesc& planes) {
    const bool is_moved = !conv.is_flat() && (role == ConvRole::x || role == ConvRole::y);
    return sizeof(float) *
           static_cast<std::size_t>((is_moved ? planes.elements() : 0) +
                                    (is_private(planes.format) ? planes.storage_elements() : 0));
  }

  /// The input for the kernel.
  const void* taken(const void* from) const {
    if (moved_ != nullptr) {
      const auto* values = static_cast<const float*>(from);
      role_ == ConvRole::x ? conv_.unfold(values, moved_->data())
                           : conv_.to_planes(values, moved_->data());
      from = moved_->data();
    }
    return blocked_ == nullptr ? from : converted(from, blocked_->data());
  }

  /// The place for the kernel's result of an output at `to`.
  void* place(void* to) const {
    if (blocked_ != nullptr) return blocked_->data();
    return moved_ != nullptr ? moved_->data() : to;
  }

  void give(void* to) const {
    if (blocked_ != nullptr) converted(blocked_->data(), moved_ != nullptr ? moved_->data() : to);
    if (moved_ == nullptr) return;
    auto* values = static_cast<float*>(to);
    role_ == ConvRole::x ? conv_.fold(moved_->data(), values)
                         : conv_.from_planes(moved_->data(), values);
  }

 private:
  static Problem trans_data(const TensorDesc& to) {
    const Op& op = find_op("trans_data");
    Attrs attrs(op.attrs);
    attrs.put("dst_format", std::string(name(to.format)));
    attrs.put("groups", std::int64_t{to.groups});
    return make_problem(op, {describe(to.dtype, to.shape, Format::NCHW)}, std::move(attrs));
  }

  void* converted(const void* from, void* to) const {
    cast_({std::span<const void* const>(&from, 1), std::span<void* const>(&to, 1)});
    return to;
  }

  ConvNd conv_;
  ConvRole role_;
  std::shared_ptr<Scratch> moved_, blocked_;
  Launch cast_;
};

/// The use of conv2d or of its gradients for the planes, in fp32.
template <bool kBlocked>
Problem planes_of(const Problem& problem) {
  const ConvNd conv(problem);
  const Op& op = op_of_planes(*problem.op);
  std::vector<Dims> shapes;
  for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
    shapes.push_back(conv.shape_of(role_of_input(*problem.op, i), problem.inputs[i].shape));
  }
  const Format format = kBlocked ? Format::NC1HWC0 : Format::NCHW;
  return make_problem(op, describe_inputs(op, shapes, DType::fp32, format, conv.attrs), conv.attrs);
}

template <bool kBlocked>
const Kernel& kernel_of_planes(const Op& planes) {
  const std::vector<const Kernel*>& all = kernels_of(planes.name);
  if (!kBlocked) return *all.front();
  constexpr std::string_view kNames[] = {"conv2d", "conv2d_backprop_input",
                                         "conv2d_backprop_filter"};
  return **std::find_if(all.begin(), all.end(), [&](const Kernel* kernel) {
    return kernel->name == kNames[conv_kind(planes)];
  });
}

/// A kernel of the planes with its tensors.
struct OnPlanes {
  std::vector<PlaneTensor> inputs;
  PlaneTensor output;
  Launch launch;
  std::vector<const void*> taken;

  template <class Planes>
  OnPlanes(const Problem& problem, const Planes& planes, const Kernel& kernel)
      : output(ConvNd(problem), role_of_output(*problem.op), planes.outputs[0], true),
        launch(kernel.prepare(planes)),
        taken(problem.inputs.size()) {
    for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
      inputs.emplace_back(ConvNd(problem), role_of_input(*problem.op, i), planes.inputs[i], false);
    }
  }

  void operator()(const KernelArgs& args) {
    for (std::size_t i = 0; i < inputs.size(); ++i) taken[i] = inputs[i].taken(args.inputs[i]);
    void* const place = output.place(args.outputs[0]);
    launch({taken, std::span<void* const>(&place, 1)});
    output.give(args.outputs[0]);
  }
};

template <bool kBlocked>
std::string refusal_of_planes(const Problem& problem) {
  const Problem planes = planes_of<kBlocked>(problem);
  return refusal(kernel_of_planes<kBlocked>(*planes.op), planes);
}

template <bool kBlocked>
Launch prepare(const Problem& problem) {
  const Problem planes = planes_of<kBlocked>(problem);
  const auto plan =
      std::make_shared<OnPlanes>(problem, planes, kernel_of_planes<kBlocked>(*planes.op));
  return in_fp32(problem, [plan](const KernelArgs& args) { (*plan)(args); });
}

template <bool kBlocked>
std::size_t temporaries(const Problem& problem) {
  const ConvNd conv(problem);
  const Problem planes = planes_of<kBlocked>(problem);
  std::size_t bytes = in_fp32_bytes(problem) +
                      temporary_bytes(kernel_of_planes<kBlocked>(*planes.op), planes) +
                      PlaneTensor::bytes(conv, role_of_output(*problem.op), planes.outputs[0]);
  for (std::size_t i = 0; i < planes.inputs.size(); ++i) {
    bytes += PlaneTensor::bytes(conv, role_of_input(*problem.op, i), planes.inputs[i]);
  }
  return bytes;
}

Kernel native(std::string_view op) {
  return {.op = op,
          .name = "native",
          .provider = Provider::framework,
          .summary =
              "the kernel of planes: a sequence is a row, the depths of a window are "
              "channels",
          .refusal = refusal_of_planes<false>,
          .prepare = prepare<false>,
          .temporary_bytes = temporaries<false>};
}

Kernel device(std::string_view op, std::string_view name, std::string_view device_name) {
  return {
      .op = op,
      .name = name,
      .family = op.substr(0, 6) == "conv1d" ? "conv2d" : "conv3d",
      .provider = Provider::npu,
      .summary = "the cube's kernel of planes with TransData around it: fp16 operands, fp32 sums",
      .dtypes = {DType::fp32, DType::fp16},
      .refusal = refusal_of_planes<true>,
      .prepare = prepare<true>,
      .judged_as = DType::fp16,
      .temporary_bytes = temporaries<true>,
      .device_name = device_name};
}

const RegisteredKernel registered[] = {
    RegisteredKernel(native("conv1d")),
    RegisteredKernel(native("conv1d_grad_input")),
    RegisteredKernel(native("conv1d_grad_weight")),
    RegisteredKernel(native("conv3d")),
    RegisteredKernel(native("conv3d_grad_input")),
    RegisteredKernel(native("conv3d_grad_weight")),
    RegisteredKernel(device("conv1d", "conv2d", "Conv2D")),
    RegisteredKernel(device("conv1d_grad_input", "conv2d_backprop_input", "Conv2DBackpropInput")),
    RegisteredKernel(
        device("conv1d_grad_weight", "conv2d_backprop_filter", "Conv2DBackpropFilter")),
    RegisteredKernel(device("conv3d", "conv3d", "Conv3D")),
    RegisteredKernel(device("conv3d_grad_input", "conv3d_backprop_input", "Conv3DBackpropInput")),
    RegisteredKernel(
        device("conv3d_grad_weight", "conv3d_backprop_filter", "Conv3DBackpropFilter"))};

}  // namespace
}  // namespace opbench
