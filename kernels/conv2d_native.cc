// Convolutions as frameworks without a vendor library compute them: windows unfolded into a matrix
// (im2col), products of matrices through Eigen, image by image; depthwise ones plane by plane.
// Our threads share the work; with OpenMP beside them Eigen would start its own in each.
#define EIGEN_DONT_PARALLELIZE

#include <Eigen/Core>
#include <algorithm>
#include <memory>
#include <vector>

#include "kernels/lanes/in_fp32.h"
#include "kernels/lanes/plane_windows.h"
#include "ops/conv2d.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Map = Eigen::Map<Matrix>;
using ConstMap = Eigen::Map<const Matrix>;

const float* input(const KernelArgs& args, std::size_t i) {
  return static_cast<const float*>(args.inputs[i]);
}
float* output(const KernelArgs& args) { return static_cast<float*>(args.outputs[0]); }

// Windows of one pixel lie unfolded already.
bool is_pointwise(const Conv2d& conv) {
  const auto& [kernel, stride, padding, dilation] = conv.window;
  return conv.taps() == 1 && stride.h * stride.w == 1 && padding.h + padding.w == 0;
}

// Row `k` of the unfolded channels of x: what tap k % taps of the kernel meets in each window.
void unfold_row(const Conv2d& conv, const float* x, std::int64_t k, float* row) {
  const std::int64_t tap = k % conv.taps(), step = conv.window.stride.w;
  const float* plane = x + k / conv.taps() * conv.h * conv.w;
  std::fill_n(row, conv.oh * conv.ow, 0.0f);
  for_each_tap_row(conv, tap / conv.window.kernel.w, tap % conv.window.kernel.w,
                   [&](auto oh, auto ih, auto begin, auto end, auto column) {
                     const float* from = plane + ih * conv.w + column;
                     float* to = row + oh * conv.ow;
                     for (std::int64_t i = begin; i < end; ++i, from += step) to[i] = *from;
                   });
}

// The opposite: every window adds to where it came from.
void fold_row(const Conv2d& conv, const float* row, std::int64_t k, float* x) {
  const std::int64_t tap = k % conv.taps(), step = conv.window.stride.w;
  float* plane = x + k / conv.taps() * conv.h * conv.w;
  for_each_tap_row(conv, tap / conv.window.kernel.w, tap % conv.window.kernel.w,
                   [&](auto oh, auto ih, auto begin, auto end, auto column) {
                     const float* from = row + oh * conv.ow;
                     float* to = plane + ih * conv.w + column;
                     for (std::int64_t i = begin; i < end; ++i, to += step) *to += from[i];
                   });
}

// One image and group.
void forward_part(const Conv2d& conv, const float* x, const float* weight, const float* bias,
                  float* y) {
  thread_local std::vector<float> unfolded;
  const std::int64_t places = conv.oh * conv.ow;
  const float* columns = x;
  if (!is_pointwise(conv)) {
    unfolded.resize(static_cast<std::size_t>(conv.terms() * places));
    for (std::int64_t k = 0; k < conv.terms(); ++k) {
      unfold_row(conv, x, k, unfolded.data() + k * places);
    }
    columns = unfolded.data();
  }
  Map(y, conv.group_m(), places).noalias() =
      ConstMap(weight, conv.group_m(), conv.terms()) * ConstMap(columns, conv.terms(), places);
  for (std::int64_t i = 0; bias != nullptr && i < conv.group_m() * places; ++i) {
    y[i] += bias[i / places];
  }
}

// Every channel is a group with one output: its plane is all there is to it.
bool is_by_planes(const Conv2d& conv) { return conv.group_c() == 1 && conv.group_m() == 1; }

Launch forward_by_planes(const Problem& problem) {
  return in_fp32(problem, [conv = conv2d_shape(problem)](const KernelArgs& args) {
    parallel_blocks(conv.n * conv.m, [&](std::int64_t i) {
      float* y = output(args) + i * conv.oh * conv.ow;
      const float bias = args.inputs.size() > 2 ? input(args, 2)[i % conv.m] : 0.0f;
      std::fill_n(y, conv.oh * conv.ow, bias);
      correlate_plane(conv, input(args, 0) + i * conv.h * conv.w,
                      input(args, 1) + i % conv.m * conv.taps(), y);
    });
  });
}

Launch forward(const Problem& problem) {
  if (is_by_planes(conv2d_shape(problem))) return forward_by_planes(problem);
  return in_fp32(problem, [conv = conv2d_shape(problem)](const KernelArgs& args) {
    parallel_blocks(conv.n * conv.groups, [&](std::int64_t i) {
      const std::int64_t first_m = i % conv.groups * conv.group_m();
      forward_part(conv, input(args, 0) + i * conv.group_c() * conv.h * conv.w,
                   input(args, 1) + first_m * conv.terms(),
                   args.inputs.size() > 2 ? input(args, 2) + first_m : nullptr,
                   output(args) + i * conv.group_m() * conv.oh * conv.ow);
    });
  });
}

void grad_input_part(const Conv2d& conv, const float* dy, const float* weight, float* dx) {
  thread_local std::vector<float> unfolded;
  const std::int64_t places = conv.oh * conv.ow;
  unfolded.resize(static_cast<std::size_t>(conv.terms() * places));
  Map(unfolded.data(), conv.terms(), places).noalias() =
      ConstMap(weight, conv.group_m(), conv.terms()).transpose() *
      ConstMap(dy, conv.group_m(), places);
  std::fill_n(dx, conv.group_c() * conv.h * conv.w, 0.0f);
  for (std::int64_t k = 0; k < conv.terms(); ++k) {
    fold_row(conv, unfolded.data() + k * places, k, dx);
  }
}

Launch grad_input_by_planes(const Problem& problem) {
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
  if (is_by_planes(conv2d_shape(problem))) return grad_input_by_planes(problem);
  return in_fp32(problem, [conv = conv2d_shape(problem)](const KernelArgs& args) {
    parallel_blocks(conv.n * conv.groups, [&](std::int64_t i) {
      grad_input_part(conv, input(args, 0) + i * conv.group_m() * conv.oh * conv.ow,
                      input(args, 1) + i % conv.groups * conv.group_m() * conv.terms(),
                      output(args) + i * conv.group_c() * conv.h * conv.w);
    });
  });
}

// Image after image, so that sums do not depend on the threads; the threads share one image.
struct GradWeight {
  static constexpr std::int64_t kTile = 32;  // outputs

  Conv2d conv;
  std::shared_ptr<Scratch> unfolded;

  void add_tile(const KernelArgs& args, std::int64_t n, std::int64_t g, std::int64_t first) const {
    const std::int64_t places = conv.oh * conv.ow, m = g * conv.group_m() + first;
    const std::int64_t count = std::min(kTile, conv.group_m() - first);
    Map dw(output(args) + m * conv.terms(), count, conv.terms());
    if (n == 0) dw.setZero();
    dw.noalias() +=
        ConstMap(input(args, 0) + (n * conv.m + m) * places, count, places) *
        ConstMap(unfolded->data() + g * conv.terms() * places, conv.terms(), places).transpose();
  }

  void operator()(const KernelArgs& args) const {
    const std::int64_t places = conv.oh * conv.ow;
    const std::int64_t tiles = (conv.group_m() + kTile - 1) / kTile;
    if (conv.n == 0) std::fill_n(output(args), conv.m * conv.terms(), 0.0f);
    for (std::int64_t n = 0; n < conv.n; ++n) {
      const float* x = input(args, 1) + n * conv.c * conv.h * conv.w;
      parallel_ranges(conv.c * conv.taps(), 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t k = begin; k < end; ++k) {
          unfold_row(conv, x, k, unfolded->data() + k * places);
        }
      });
      parallel_blocks(conv.groups * tiles,
                      [&](std::int64_t i) { add_tile(args, n, i / tiles, i % tiles * kTile); });
    }
  }
};

std::int64_t unfolded_image(const Conv2d& conv) { return conv.c * conv.taps() * conv.oh * conv.ow; }

// Image after image, too; the threads share the channels.
Launch grad_weight_by_planes(const Problem& problem) {
  return in_fp32(problem, [conv = conv2d_shape(problem)](const KernelArgs& args) {
    parallel_blocks(conv.m, [&](std::int64_t m) {
      float* dw = output(args) + m * conv.taps();
      std::fill_n(dw, conv.taps(), 0.0f);
      for (std::int64_t i = m; i < conv.n * conv.m; i += conv.m) {
        add_taps_of_plane(conv, input(args, 0) + i * conv.oh * conv.ow,
                          input(args, 1) + i * conv.h * conv.w, dw);
      }
    });
  });
}

Launch grad_weight(const Problem& problem) {
  const Conv2d conv = conv2d_shape(problem);
  if (is_by_planes(conv)) return grad_weight_by_planes(problem);
  return in_fp32(problem, GradWeight{conv, std::make_shared<Scratch>(unfolded_image(conv))});
}

std::string refuse_private(const Problem& problem) {
  for (const TensorDesc& input : problem.inputs) {
    if (is_private(input.format)) return "a framework's convolution takes plain tensors";
  }
  return {};
}

// Each thread unfolds a group of an image.
std::size_t part_bytes(const Problem& problem) {
  const Conv2d conv = conv2d_shape(problem);
  return in_fp32_bytes(problem) + static_cast<std::size_t>(thread_count()) *
                                      static_cast<std::size_t>(unfolded_image(conv) / conv.groups) *
                                      sizeof(float);
}

const RegisteredKernel conv2d{{
    .op = "conv2d",
    .name = "native",
    .provider = Provider::framework,
    .summary =
        "im2col and a product through Eigen in fp32, image by image; depthwise: plane by plane",
    .refusal = refuse_private,
    .prepare = forward,
    .temporary_bytes = part_bytes,
}};

const RegisteredKernel conv2d_grad_input{{
    .op = "conv2d_grad_input",
    .name = "native",
    .provider = Provider::framework,
    .summary =
        "a product through Eigen and col2im in fp32, image by image; depthwise: plane by plane",
    .refusal = refuse_private,
    .prepare = grad_input,
    .temporary_bytes = part_bytes,
}};

const RegisteredKernel conv2d_grad_weight{{
    .op = "conv2d_grad_weight",
    .name = "native",
    .provider = Provider::framework,
    .summary =
        "im2col and a product through Eigen in fp32, image after image; depthwise: plane by plane",
    .refusal = refuse_private,
    .prepare = grad_weight,
    .temporary_bytes =
        [](const Problem& problem) {
          return in_fp32_bytes(problem) +
                 static_cast<std::size_t>(unfolded_image(conv2d_shape(problem))) * sizeof(float);
        },
}};

}  // namespace
}  // namespace opbench
