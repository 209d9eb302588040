#include "kernels/conv2d_axis.h"

#include <algorithm>

namespace opbench {
namespace {

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a >= 0 ? a / b : -((b - 1 - a) / b);
}

// Adds the tap unless no place of the phase meets an element.
void add_tap(const ConvAxis& axis, AxisPhase& phase, std::int64_t tap, std::int64_t offset) {
  const std::int64_t begin = std::max<std::int64_t>(0, -floor_div(offset, axis.in_step));
  const std::int64_t end =
      std::min(floor_div(axis.inputs - 1 - offset, axis.in_step) + 1, phase.count);
  if (begin < end) phase.taps.push_back({tap, offset, begin, end});
}

}  // namespace

std::int64_t ConvAxis::lowest() const {
  bool any = false;
  std::int64_t result = 0;
  for (const AxisPhase& phase : phases) {
    for (const AxisTap& tap : phase.taps) {
      result = any ? std::min(result, tap.offset) : tap.offset;
      any = true;
    }
  }
  return result;
}

std::int64_t ConvAxis::highest() const {
  std::int64_t result = lowest();
  for (const AxisPhase& phase : phases) {
    for (const AxisTap& tap : phase.taps) result = std::max(result, tap.offset);
  }
  return result;
}

ConvAxis ConvAxis::forward(std::int64_t outputs, std::int64_t inputs, std::int64_t kernel,
                           std::int64_t stride, std::int64_t padding, std::int64_t dilation) {
  ConvAxis axis{kernel, inputs, stride, 1, {{0, outputs, {}}}};
  for (std::int64_t i = 0; i < kernel; ++i) {
    add_tap(axis, axis.phases.front(), i, i * dilation - padding);
  }
  return axis;
}

// Element o meets tap i where o + padding - i*dilation is a multiple of the stride.
ConvAxis ConvAxis::backward(std::int64_t outputs, std::int64_t inputs, std::int64_t kernel,
                            std::int64_t stride, std::int64_t padding, std::int64_t dilation) {
  ConvAxis axis{kernel, inputs, 1, stride, {}};
  for (std::int64_t o = 0; o < std::min(stride, std::max<std::int64_t>(outputs, 1)); ++o) {
    AxisPhase phase{o, (outputs - o + stride - 1) / stride, {}};
    for (std::int64_t i = 0; i < kernel; ++i) {
      const std::int64_t shifted = o + padding - i * dilation;
      if (shifted % stride == 0) add_tap(axis, phase, i, shifted / stride);
    }
    axis.phases.push_back(std::move(phase));
  }
  return axis;
}

}  // namespace opbench
