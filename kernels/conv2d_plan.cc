#include "kernels/conv2d_plan.h"

#include <fmt/format.h>

#include "kernels/simd/conv2d_plane.h"

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

// The number of rows with about a hundred places: several tiles that still fit a cache.
std::int64_t rows_to_join(std::int64_t rows, std::int64_t places) {
  std::int64_t joined = 1;
  for (std::int64_t i = 2; i <= rows && i * places <= 128; ++i) {
    if (rows % i == 0) joined = i;
  }
  return joined;
}

ConvAxes axes_of(const Conv2d& conv, const TensorDesc& in, const TensorDesc& out, bool backward) {
  const auto& [kernel, stride, padding, dilation] = conv.window;
  const Dims &from = in.shape, &to = out.shape;
  const bool is_pointwise =
      conv.taps() == 1 && std::max(stride.h, stride.w) == 1 && std::max(padding.h, padding.w) == 0;
  const std::int64_t joined = is_pointwise ? rows_to_join(to[2], to[3]) : 1;
  const auto axis = backward ? ConvAxis::backward : ConvAxis::forward;
  return {axis(to[2] / joined, from[2] / joined, kernel.h, stride.h, padding.h, dilation.h),
          axis(to[3] * joined, from[3] * joined, kernel.w, stride.w, padding.w, dilation.w),
          to[3] * joined};
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

ConvAxes ConvAxes::of(const Problem& problem, const Conv2d& conv, bool backward) {
  return axes_of(conv, problem.inputs[0], problem.outputs[0], backward);
}

ConvAxes ConvAxes::of_weight(const Problem& problem, const Conv2d& conv) {
  return axes_of(conv, problem.inputs[1], problem.inputs[0], false);
}

ConvImage ConvAxes::image(const ConvRows& rows, const ConvBand& band, DType dtype) const {
  ConvImage image{};
  image.rows = rows.row_phases();
  image.columns = rows.column_phases();
  image.begin = band.begin;
  image.end = band.end;
  image.row_step = h.out_step;
  image.column_step = w.out_step;
  image.y_width = out_w;
  image.lanes = rows.lanes();
  image.row_elements = rows.row_elements();
  image.plane = rows.plane_elements();
  image.dtype = dtype;
  return image;
}

namespace {

// The place of 16 terms and 16 sums in a block of the weight.
struct FactorPlace {
  std::int64_t block, tap, term, sum;
};

// Writes zeros where groups do not meet; rows of outputs are `pitch` apart.
void clear_others(const FractalWeight& weight, std::int64_t block, std::int64_t output,
                  std::int64_t count, std::int64_t channel, std::int64_t pitch, float* to) {
  for (std::int64_t i = 0; weight.conv.groups > 1 && i < count * kCube; ++i) {
    if (!weight.is_element(block, output + i / kCube, channel + i % kCube)) {
      to[i / kCube * pitch + i % kCube] = 0;
    }
  }
}

// Loads `count` terms, `pitch` elements apart, by 16 sums, with zeros where groups do not meet.
void load_factors(const CubePlan& plan, const void* from, FactorPlace place, std::int64_t count,
                  std::int64_t pitch, float* to) {
  const FractalWeight& weight = plan.weight;
  const std::int64_t output = plan.backward ? place.term : place.sum;
  const std::int64_t channel = plan.backward ? place.sum : place.term;
  const void* stored =
      at(from, weight.dtype, weight.offset(place.block, place.tap, output, channel));
  if (plan.backward) {
    load_places(weight.dtype, stored, {kCube, pitch}, count, to);
    return clear_others(weight, place.block, output, count, channel, pitch, to);
  }
  alignas(64) float by_output[kCube * kCube];
  load_places(weight.dtype, stored, {}, kCube, by_output);
  clear_others(weight, place.block, output, kCube, channel, kCube, by_output);
  transpose_block(by_output, count, pitch, to);
}

}  // namespace

void CubePlan::pack_panel(const void* from, std::int64_t block, std::int64_t panel,
                          std::int64_t tap, float* to) const {
  const std::int64_t blocks = panel_blocks(block, panel), count = terms(block);
  for (std::int64_t b = 0; b < blocks; ++b) {
    for (std::int64_t term = 0; term < count; term += kCube) {
      load_factors(*this, from, {block, tap, term, (panel * kPanelBlocks + b) * kCube},
                   std::min(kCube, count - term), blocks * kCube, to + (term * blocks + b) * kCube);
    }
  }
}

void CubePlan::set_panel(const KernelArgs& args, std::int64_t block, std::int64_t panel,
                         float* bias, ConvImage& image) const {
  const std::int64_t base = first_out(block) + panel * kPanelBlocks;
  image.channels = terms(block);
  image.width = panel_blocks(block, panel) * kCube;
  image.bias = bias;
  std::fill_n(bias, image.width, 0.0f);
  for (std::int64_t b = 0; b < image.width / kCube; ++b) {
    image.used[b] = out.used(base + b);
    if (!has_bias) continue;
    load_floats(bias_dtype, at(args.inputs[2], bias_dtype, (base + b) * kCube), image.used[b],
                bias + b * kCube);
  }
}

}  // namespace opbench
