// Convolutions like a framework in plain formats: matrix products image by image; depthwise
// convolutions plane by plane.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/conv2d_strips.h"
#include "kernels/copy/plane.h"
#include "kernels/simd/gemm.h"
#include "kernels/simd/in_fp32.h"
#include "kernels/simd/plane_windows.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

const float* input(const KernelArgs& args, std::size_t i) {
  return static_cast<const float*>(args.inputs[i]);
}
float* output(const KernelArgs& args) { return static_cast<float*>(args.outputs[0]); }

Launch forward_by_planes(const Problem& problem) {
  const Conv2d conv = conv2d_shape(problem);
  return in_fp32(problem, [conv, planes = PaddedPlanes(conv, conv.oh)](const KernelArgs& args) {
    parallel_blocks(conv.n * conv.m, [&](std::int64_t i) {
      const float bias = args.inputs.size() > 2 ? input(args, 2)[i % conv.m] : 0.0f;
      correlate_plane(conv, planes, input(args, 0) + i * conv.h * conv.w,
                      input(args, 1) + i % conv.m * conv.taps(), bias,
                      output(args) + i * conv.oh * conv.ow);
    });
  });
}

Launch forward(const Problem& problem) {
  if (is_by_planes(conv2d_shape(problem))) return forward_by_planes(problem);
  const auto plan = std::make_shared<ConvStrips>(conv2d_shape(problem));
  return in_fp32(problem, [plan](const KernelArgs& args) {
    plan->run(input(args, 0), input(args, 1), args.inputs.size() > 2 ? input(args, 2) : nullptr,
              output(args));
  });
}

// With stride 1 the gradient by x is a convolution of dy with the rotated kernel and a larger
// padding.
bool is_convolution(const Conv2d& conv) { return conv.window.stride.h * conv.window.stride.w == 1; }

Conv2d of_gradient(const Conv2d& conv) {
  const auto& [kernel, stride, padding, dilation] = conv.window;
  Conv2d turned{conv.n, conv.m, conv.oh, conv.ow, conv.c, conv.h, conv.w, conv.groups, conv.window};
  turned.window.padding = {dilation.h * (kernel.h - 1) - padding.h,
                           dilation.w * (kernel.w - 1) - padding.w};
  return turned;
}

// Rotates the kernels: weight[g, m, c, tap] becomes [g, c, m, last tap - tap].
void turn(const Conv2d& conv, const float* weight, float* to) {
  const std::int64_t taps = conv.taps(), m = conv.group_m(), c = conv.group_c();
  parallel_blocks(conv.groups * c, [&](std::int64_t i) {
    const float* from = weight + (i / c * m * c + i % c) * taps;
    float* row = to + i * m * taps;
    for (std::int64_t k = 0; k < m; ++k, from += c * taps, row += taps) {
      std::reverse_copy(from, from + taps, row);
    }
  });
}

// Adds the result of term k for each window to the window's place in x.
void fold_row(const Conv2d& conv, const float* row, std::int64_t k, float* x) {
  const std::int64_t tap = k % conv.taps(), step = conv.window.stride.w;
  float* plane = x + k / conv.taps() * conv.h * conv.w;
  for_each_tap_row(conv, tap / conv.window.kernel.w, tap % conv.window.kernel.w,
                   [&](auto oh, auto ih, auto begin, auto end, auto column) {
                     const float* from = row + oh * conv.ow;
                     float* to = plane + ih * conv.w + column;
                     if (step == 1) {
                       for (std::int64_t i = begin; i < end; ++i) to[i - begin] += from[i];
                     } else {
                       for (std::int64_t i = begin; i < end; ++i, to += step) *to += from[i];
                     }
                   });
}

// One image and group of the gradient of a convolution with a stride.
void grad_input_part(const Conv2d& conv, const float* dy, const float* weight, float* dx) {
  thread_local std::vector<float> turned, padded, unfolded;
  const std::int64_t places = conv.oh * conv.ow, pitch = round_up_to_vector(places);
  const std::int64_t m = conv.group_m(), terms = conv.terms();
  turned.resize(static_cast<std::size_t>(terms * m));
  transpose_plane({4, terms, m, terms, m, terms, m}, weight, turned.data(), false);
  if (pitch != places) {
    padded.resize(static_cast<std::size_t>(m * pitch));
    for (std::int64_t i = 0; i < m; ++i) {
      float* row = padded.data() + i * pitch;
      std::fill(std::copy_n(dy + i * places, places, row), row + pitch, 0.0f);
    }
    dy = padded.data();
  }
  unfolded.resize(static_cast<std::size_t>(terms * pitch));
  gemm({terms, pitch, m, m, pitch, pitch}, turned.data(), dy, unfolded.data());
  std::fill_n(dx, conv.group_c() * conv.h * conv.w, 0.0f);
  for (std::int64_t k = 0; k < terms; ++k) fold_row(conv, unfolded.data() + k * pitch, k, dx);
}

// The gradient of every image and group separately.
void grad_input_of_images(const Conv2d& conv, const KernelArgs& args) {
  parallel_blocks(conv.n * conv.groups, [&](std::int64_t i) {
    grad_input_part(conv, input(args, 0) + i * conv.group_m() * conv.oh * conv.ow,
                    input(args, 1) + i % conv.groups * conv.group_m() * conv.terms(),
                    output(args) + i * conv.group_c() * conv.h * conv.w);
  });
}

bool is_finite(const float* values, std::int64_t count) {
  constexpr std::uint32_t kInfinity = 0x7F800000, kMagnitude = 0x7FFFFFFF;  // bits of fp32
  std::atomic<bool> is_any_infinite = false;
  parallel_ranges(count, std::int64_t{1} << 16, [&](std::int64_t first, std::int64_t last) {
    std::uint32_t greatest = 0;
    for (std::int64_t i = first; i < last; ++i) {
      greatest = std::max(greatest, std::bit_cast<std::uint32_t>(values[i]) & kMagnitude);
    }
    if (greatest >= kInfinity) is_any_infinite = true;
  });
  return !is_any_infinite;
}

// The edges of dy are padded with zeros, and 0 times Inf is NaN. A weight of Inf must not
// contribute to places outside.
Launch grad_input_as_convolution(const Problem& problem) {
  const Conv2d conv = conv2d_shape(problem);
  const auto plan = std::make_shared<ConvStrips>(of_gradient(conv));
  const auto turned = std::make_shared<Scratch>(conv.m * conv.terms());
  return in_fp32(problem, [conv, plan, turned](const KernelArgs& args) {
    const float* const weight = input(args, 1);
    if (!is_finite(weight, conv.m * conv.terms())) return grad_input_of_images(conv, args);
    turn(conv, weight, turned->data());
    plan->run(input(args, 0), turned->data(), nullptr, output(args));
  });
}

Launch grad_input_by_planes(const Problem& problem) {
  const Conv2d conv = of_gradient(conv2d_shape(problem));
  const auto turned = std::make_shared<Scratch>(conv.m * conv.taps());
  return in_fp32(problem,
                 [conv, planes = PaddedPlanes(conv, conv.oh), turned](const KernelArgs& args) {
                   turn(conv, input(args, 1), turned->data());
                   parallel_blocks(conv.n * conv.m, [&](std::int64_t i) {
                     correlate_plane(conv, planes, input(args, 0) + i * conv.h * conv.w,
                                     turned->data() + i % conv.m * conv.taps(), 0,
                                     output(args) + i * conv.oh * conv.ow);
                   });
                 });
}

Launch grad_input_by_strided_planes(const Problem& problem) {
  return in_fp32(problem, [conv = conv2d_shape(problem)](const KernelArgs& args) {
    parallel_blocks(conv.n * conv.m, [&](std::int64_t i) {
      float* dx = output(args) + i * conv.h * conv.w;
      std::fill_n(dx, conv.h * conv.w, 0.0f);
      spread_plane(conv, input(args, 0) + i * conv.oh * conv.ow,
                   input(args, 1) + i % conv.m * conv.taps(), dx);
    });
  });
}

Launch grad_input(const Problem& problem) {
  const Conv2d conv = conv2d_shape(problem);
  if (is_by_planes(conv)) {
    return is_convolution(conv) ? grad_input_by_planes(problem)
                                : grad_input_by_strided_planes(problem);
  }
  if (is_convolution(conv)) return grad_input_as_convolution(problem);
  return in_fp32(problem, [conv](const KernelArgs& args) { grad_input_of_images(conv, args); });
}

std::size_t with_floats(const Problem& problem, std::int64_t count) {
  return in_fp32_bytes(problem) + static_cast<std::size_t>(count) * sizeof(float);
}

std::size_t forward_bytes(const Problem& problem) {
  const Conv2d conv = conv2d_shape(problem);
  if (is_by_planes(conv)) return in_fp32_bytes(problem);
  return with_floats(problem, thread_count() * ConvStrips(conv).temporaries());
}

// With a stride, each thread holds the transposed weights and a padded, unfolded image of one
// group.
std::size_t grad_input_bytes(const Problem& problem) {
  const Conv2d conv = conv2d_shape(problem);
  if (is_by_planes(conv)) return with_floats(problem, conv.m * conv.taps());
  if (is_convolution(conv)) {
    return with_floats(problem, conv.m * conv.terms() +
                                    thread_count() * ConvStrips(of_gradient(conv)).temporaries());
  }
  const std::int64_t pitch = round_up_to_vector(conv.oh * conv.ow), m = conv.group_m();
  return with_floats(problem, thread_count() * (conv.terms() * (m + pitch) + m * pitch));
}

const RegisteredKernel conv2d{{
    .op = "conv2d",
    .name = "native",
    .provider = Provider::framework,
    .summary = "a product of the weight and the windows' inputs in fp32, some rows of an image at "
               "a time; depthwise: plane by plane",
    .refusal = plain_conv2d_refusal,
    .prepare = forward,
    .temporary_bytes = forward_bytes,
}};

const RegisteredKernel conv2d_grad_input{{
    .op = "conv2d_grad_input",
    .name = "native",
    .provider = Provider::framework,
    .summary = "a convolution of dy in fp32, with a stride a product and col2im; depthwise: plane "
               "by plane",
    .refusal = plain_conv2d_refusal,
    .prepare = grad_input,
    .temporary_bytes = grad_input_bytes,
}};

}  // namespace
}  // namespace opbench
