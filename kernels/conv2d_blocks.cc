#include "kernels/conv2d_blocks.h"

#include <fmt/format.h>

namespace opbench {
namespace {

// Source: CANN's Conv2D: filter 1-255, stride 1-63, pad 0-255, dilation 1-255, W up to 4096.
std::string limit_refusal(const Conv2d& conv) {
  const auto& [kernel, stride, padding, dilation] = conv.window;
  const auto beyond = [](Pair pair, std::int64_t most) { return std::max(pair.h, pair.w) > most; };
  if (beyond(kernel, 255)) return "Conv2D takes kernels up to 255";
  if (beyond(stride, 63)) return "Conv2D takes strides up to 63";
  if (beyond(padding, 255)) return "Conv2D takes a padding up to 255";
  if (beyond(dilation, 255)) return "Conv2D takes a dilation up to 255";
  if (conv.h > 100000 || conv.w > 4096)
    return "Conv2D takes a height up to 100000, a width to 4096";
  return {};
}

}  // namespace

FractalWeight::FractalWeight(const Problem& problem, const TensorDesc& weight)
    : conv(conv2d_shape(problem)),
      dtype(weight.dtype),
      fractal(fractal_groups(conv.m, conv.group_c(), static_cast<int>(conv.groups), kCube)) {}

std::string conv2d_refusal(const Problem& problem) {
  if (const std::string reason = cube_refusal(problem); !reason.empty()) return reason;
  for (const auto* tensors : {&problem.inputs, &problem.outputs}) {
    for (const TensorDesc& tensor : *tensors) {
      if (tensor.shape.size() != 4 || is_private(tensor.format)) continue;
      return fmt::format(
          "the device takes activations in NC1HWC0 and the weight in FRACTAL_Z, "
          "found {}",
          name(tensor.format));
    }
  }
  return limit_refusal(conv2d_shape(problem));
}

}  // namespace opbench
