// Convolutions of sequences and volumes, and their gradients, computed by those of planes.
#include "ops/conv_nd.h"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "ops/channels.h"
#include "ops/elementwise.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

template <std::size_t kAxes, ConvKind kKind>
std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Op& op = find_op(kConvNames[kAxes - 1][kKind]);
  const ConvOperands of(op, inputs[0].shape, inputs[1].shape, attrs);
  const Dims y = convolved(op.name, kAxes, of.x, of.weight, attrs);
  if (kKind == kConvForward) {
    if (inputs.size() > 2) require_per_channel(op.name, "bias", inputs[2], y[1]);
    return {with_shape(inputs[0], y)};
  }
  if (inputs[0].shape != y) {
    throw Error(
        fmt::format("{}: 'grad_output' has shape {}; allowed: {}, the result of the "
                    "convolution",
                    op.name, to_string(inputs[0].shape), to_string(y)));
  }
  return {with_shape(inputs[0], kKind == kConvGradInput ? of.x : of.weight)};
}

/// The tensors of the planes in fp64, for a reference of conv2d.
class Planes {
 public:
  Planes(const ConvNd& conv, const Op& op, std::span<const InputReader> inputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      std::vector<double> values = inputs[i].read_all();
      const ConvRole role = role_of_input(op, i);
      const Dims shape = conv.shape_of(role, inputs[i].desc().shape);
      if (role == ConvRole::x || role == ConvRole::y) {
        std::vector<double> planes(static_cast<std::size_t>(element_count(shape)));
        role == ConvRole::x ? conv.unfold(values.data(), planes.data())
                            : conv.to_planes(values.data(), planes.data());
        values = std::move(planes);
      }
      values_.push_back(std::move(values));
      descs_.push_back(describe(DType::fp64, shape));
    }
    for (std::size_t i = 0; i < values_.size(); ++i) {
      readers_.emplace_back(descs_[i], values_[i].data());
    }
  }

  std::span<const InputReader> readers() const { return readers_; }

 private:
  std::vector<std::vector<double>> values_;
  std::vector<TensorDesc> descs_;
  std::vector<InputReader> readers_;
};

// Computed for all elements at once: each of them is a sum over windows.
Reference folded(const ConvNd& conv, const Reference& planes) {
  const std::int64_t images = conv.x[0], image = conv.x[1] * conv.x[2] * conv.x[3];
  std::vector<double> unfolded(static_cast<std::size_t>(images * image));
  parallel_blocks(images, [&](std::int64_t i) {
    const std::span<double> all(unfolded);
    planes(0, {i * image, image}, all.subspan(std::size_t(i * image), std::size_t(image)));
  });
  std::vector<double> dx(static_cast<std::size_t>(conv.n * conv.c * conv.d) *
                         static_cast<std::size_t>(conv.x[2] * conv.x[3]));
  conv.fold(unfolded.data(), dx.data());
  return elements_of({std::move(dx)});
}

template <std::size_t kAxes, ConvKind kKind>
Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Op& op = find_op(kConvNames[kAxes - 1][kKind]);
  const ConvNd conv(op, inputs[0].desc().shape, inputs[1].desc().shape, attrs);
  const auto planes = std::make_shared<const Planes>(conv, op, inputs);
  const Reference of = op_of_planes(op).reference(planes->readers(), conv.attrs);
  if (kKind == kConvGradInput) return folded(conv, of);
  return [planes, of, conv](std::size_t, ElementRange range, std::span<double> to) {
    if (kKind == kConvGradWeight || conv.od == 1) return of(0, range, to);
    const std::int64_t plane = conv.y[2] * conv.y[3];
    for_each_plane(range, plane, [&](std::int64_t index, ElementRange part, std::int64_t at) {
      const std::int64_t window = index % conv.od, m = index / conv.od % conv.m;
      const std::int64_t image = index / conv.od / conv.m * conv.od + window;
      of(0, {(image * conv.m + m) * plane + part.first, part.count},
         to.subspan(std::size_t(at), std::size_t(part.count)));
    });
  };
}

template <std::size_t kAxes>
std::vector<GradientCall> gradient(const Problem& forward) {
  const GradientArg dy{GradientArg::output_gradient, 0};
  const auto call = [&](ConvKind kind, std::size_t other, std::string_view size, std::size_t of) {
    const std::string_view name = kConvNames[kAxes - 1][kind];
    Attrs attrs = forward.attrs.restricted_to(find_op(name).attrs);
    attrs.put(size, forward.inputs[of].shape);
    return GradientCall{name, {dy, {GradientArg::input, other}}, {of}, std::move(attrs)};
  };
  std::vector<GradientCall> calls = {call(kConvGradInput, 1, "input_size", 0),
                                     call(kConvGradWeight, 0, "weight_size", 1)};
  if (forward.inputs.size() > 2) calls.push_back({"bias_grad", {dy}, {2}});
  return calls;
}

Traffic traffic(const Problem& problem) {
  const ConvNd conv(problem);
  Traffic traffic = movement_traffic(problem);
  traffic.operations = 2 * double(element_count(conv.y)) * double(conv.terms());
  if (problem.inputs.size() > 2) traffic.operations += double(problem.outputs[0].elements());
  return traffic;
}

// Shapes of another rank: all axes but the last become images of 3 channels or 1, or
// leading axes of 1 are added for volumes.
template <std::size_t kAxes>
Dims x_like(const Dims& shape) {
  if (shape.size() == kAxes + 2) return shape;
  if (kAxes == 3) {
    const std::size_t rank = std::min<std::size_t>(shape.size(), 5);
    Dims x(5 - rank, 1);
    x.insert(x.end(), shape.end() - std::ptrdiff_t(rank), shape.end());
    return x;
  }
  const std::int64_t length = shape.empty() ? 1 : shape.back();
  const std::int64_t lines = length == 0 ? 0 : element_count(shape) / length;
  const std::int64_t channels = lines % 3 == 0 ? 3 : 1;
  return {lines / channels, channels, length};
}

// Kernels of 3 places, or of 2 along the depth; as many outputs as channels.
template <std::size_t kAxes, ConvKind kKind>
std::vector<Dims> inputs_like(const Dims& shape, const Attrs& attrs) {
  const Dims x = x_like<kAxes>(shape);
  Dims weight = {x[1], x[1] / attrs.integer("groups")}, dy = x;
  for (std::size_t i = 2; i < x.size(); ++i) {
    weight.push_back(std::clamp<std::int64_t>(x[i], 1, kAxes == 3 && i == 2 ? 2 : 3));
    dy[i] -= weight[i] - 1;
  }
  if (kKind == kConvForward) return {x, weight, {x[1]}};
  return {dy, kKind == kConvGradInput ? weight : x};
}

// The deviation of the second factor of the products that an element sums.
Distribution weights(const Problem& problem) {
  const ConvNd conv(problem);
  const ConvKind kind = conv_kind(*problem.op);
  if (kind == kConvForward) return weight_data(conv.terms());
  if (kind == kConvGradWeight) return weight_data(conv.y[0] * conv.y[2] * conv.y[3]);
  return weight_data(conv.terms() / conv.weight[1] * conv.kd * conv.m /
                     problem.attrs.integer("groups"));
}

AttrSpec size_attr(std::string_view name, std::string_view help) {
  return {name, std::vector<std::int64_t>{}, help, [](const AttrValue& value) {
            const auto& extents = std::get<std::vector<std::int64_t>>(value);
            const bool fits = std::all_of(extents.begin(), extents.end(),
                                          [](std::int64_t extent) { return extent >= 0; });
            return fits ? std::string() : std::string("it must be 0 or more");
          }};
}

template <std::size_t kAxes, ConvKind kKind>
Op described(std::string_view summary, std::string_view source, KnownAs known_as) {
  Op op;
  op.name = kConvNames[kAxes - 1][kKind];
  op.ir_name = kKind == kConvForward ? "convolution" : "ConvolutionBackward";
  op.summary = summary;
  op.source = source;
  op.known_as = std::move(known_as);
  op.attrs = conv_attrs<kAxes>();
  op.dtypes = kArithmeticDTypes;
  op.formats = {kAxes == 1 ? Format::ND : Format::NCDHW};
  op.infer = infer<kAxes, kKind>;
  op.reference = reference<kAxes, kKind>;
  op.traffic = traffic;
  op.inputs_like = inputs_like<kAxes, kKind>;
  op.mixing = Mixing::sums;
  op.context = {.uses_cube = true};
  return op;
}

template <std::size_t kAxes>
Op forward(std::string_view source, KnownAs known_as) {
  Op op = described<kAxes, kConvForward>(
      "y[n,m] = the sum over c of x[n,c] correlated with weight[m,c], plus bias[m]", source,
      std::move(known_as));
  op.inputs = {{"self", "self", {}, unit_data},
               {"weight", "weight", {}, weights},
               {"bias", "bias", {}, unit_data, {Format::ND}}};
  op.outputs = {{"result"}};
  op.optional_inputs = 1;
  op.gradient = gradient<kAxes>;
  return op;
}

template <std::size_t kAxes>
Op grad_input(std::string_view source, KnownAs known_as) {
  Op op = described<kAxes, kConvGradInput>("dx = dy scattered through the weight", source,
                                           std::move(known_as));
  op.inputs = {{"grad_output", "grads/grads_0", {}, unit_data}, {"weight", "weight", {}, weights}};
  op.outputs = {{"grad_input", "grad_inputs/grad_inputs_0"}};
  op.attrs.push_back(
      size_attr("input_size", "shape of x; [] is the least that gives 'grad_output'"));
  return op;
}

template <std::size_t kAxes>
Op grad_weight(std::string_view source, KnownAs known_as) {
  Op op = described<kAxes, kConvGradWeight>(
      "dw[m,c] = the sum over n of x[n,c] correlated with dy[n,m]", source, std::move(known_as));
  op.inputs = {{"grad_output", "grads/grads_0", {}, weights}, {"self", "self", {}, unit_data}};
  op.outputs = {{"grad_weight", "grad_inputs/grad_inputs_1"}};
  op.attrs.push_back(
      size_attr("weight_size", "shape of the weight; [] is the largest that gives 'grad_output'"));
  return op;
}

constexpr std::string_view kWindows =
    "stride: stride|strides, padding: padding|pads, dilation: dilation|dilations, groups: "
    "groups|group";

KnownCall forward_call(std::string_view names, std::string_view inputs, int turn) {
  return {
      names, inputs, "result|out|y|Y", {.attrs = kWindows, .where = "transposed: 0", .turn = turn}};
}

const RegisteredOp conv1d{
    forward<1>("torch.nn.functional.conv1d; CANN Conv2D",
               {.calls = {forward_call("conv1d, convolution, _convolution, mkldnn_convolution, "
                                       "cudnn_convolution, npu_convolution, Conv",
                                       "input|self|x|X, weight|filter|W of 3 axes, bias?|B?", 2)},
                .torch = "F.conv1d({0}, {1}, {2}, {stride}, {padding}, {dilation}, {groups})"})};

const RegisteredOp conv1d_grad_input{
    grad_input<1>("torch.nn.functional.conv1d backward",
                  {.torch = "torch.nn.grad.conv1d_input({shape}, {1}, {0}, {stride}, {padding}, "
                            "{dilation}, {groups})"})};

const RegisteredOp conv1d_grad_weight{
    grad_weight<1>("torch.nn.functional.conv1d backward",
                   {.torch = "torch.nn.grad.conv1d_weight({1}, {shape}, {0}, {stride}, {padding}, "
                             "{dilation}, {groups})"})};

const RegisteredOp conv3d{forward<3>(
    "torch.nn.functional.conv3d; CANN Conv3D",
    {.calls = {forward_call(
         "conv3d, convolution, _convolution, mkldnn_convolution, cudnn_convolution, slow_conv3d, "
         "slow_conv3d_forward, npu_conv3d, npu_convolution, Conv3D, Conv3DV2, Conv",
         "input|self|x|X, weight|filter|W of 5 axes, bias?|B?", 3)},
     .profiled = {{"Conv3D, Conv3DV2", "x, filter, bias", "y"}},
     .torch = "F.conv3d({0}, {1}, {2}, {stride}, {padding}, {dilation}, {groups})"})};

const RegisteredOp conv3d_grad_input{grad_input<3>(
    "torch.nn.functional.conv3d backward; CANN Conv3DBackpropInput",
    {.calls = {{"Conv3DBackpropInput, Conv3DBackpropInputD, Conv3DBackpropInputV2",
                "out_backprop, filter",
                "y",
                {.attrs = "stride: strides, padding: pads, dilation: dilations, groups, "
                          "input_size: shape of y"}}},
     .profiled = {{"Conv3DBackpropInput, Conv3DBackpropInputV2",
                   "=input_size, filter, out_backprop", "y"},
                  {"Conv3DBackpropInputD", "filter, out_backprop", "y"}},
     .torch = "torch.nn.grad.conv3d_input({shape}, {1}, {0}, {stride}, {padding}, {dilation}, "
              "{groups})"})};

const RegisteredOp conv3d_grad_weight{grad_weight<3>(
    "torch.nn.functional.conv3d backward; CANN Conv3DBackpropFilter",
    {.calls = {{"Conv3DBackpropFilter, Conv3DBackpropFilterD, Conv3DBackpropFilterV2",
                "out_backprop, x",
                "y",
                {.attrs = "stride: strides, padding: pads, dilation: dilations, groups, "
                          "weight_size: shape of y"}}},
     .profiled = {{"Conv3DBackpropFilter, Conv3DBackpropFilterV2", "x, =filter_size, out_backprop",
                   "y"},
                  {"Conv3DBackpropFilterD", "x, out_backprop", "y"}},
     .torch = "torch.nn.grad.conv3d_weight({1}, {shape}, {0}, {stride}, {padding}, {dilation}, "
              "{groups})"})};

}  // namespace
}  // namespace opbench
