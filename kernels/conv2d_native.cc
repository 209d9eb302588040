// Convolutions as frameworks without a vendor library compute them: windows unfolded into a matrix
// (im2col), products of matrices, by the weight through Eigen, image by image; depthwise ones plane
// by plane.
// Our threads share the work; with OpenMP beside them Eigen would start its own in each.
#define EIGEN_DONT_PARALLELIZE

#include <Eigen/Core>
#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "kernels/conv2d_unfold.h"
#include "kernels/lanes/gemm.h"
#include "kernels/lanes/in_fp32.h"
#include "kernels/lanes/plane_windows.h"
#include "kernels/move/plane.h"
#include "ops/conv2d.h"
#include "tensor/cache_sizes.h"
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

std::int64_t round_up_to_vector(std::int64_t count) { return (count + 15) / 16 * 16; }

// Rows of the output whose unfolded windows take half of a core's own cache; if it comes out even,
// as many as make whole vectors of windows, whose sums need no copy.
std::int64_t strip_rows(const Conv2d& conv) {
  if (is_pointwise(conv)) return conv.oh;
  const auto cache = static_cast<std::int64_t>(own_cache_bytes() / sizeof(float) / 2);
  const std::int64_t fitting =
      cache / std::max<std::int64_t>(1, conv.terms() * round_up_to_vector(conv.ow));
  const std::int64_t even = 16 / std::gcd(std::int64_t{16}, conv.ow);
  const std::int64_t rows = fitting >= even ? fitting / even * even : fitting;
  return std::clamp<std::int64_t>(rows, 1, std::max<std::int64_t>(1, conv.oh));
}

// What a strip of one image and group is multiplied with: a matrix of `pitch` columns, those past
// the windows zeros.
const float* unfolded_strip(const Conv2d& conv, const float* x, Strip strip, std::int64_t pitch) {
  thread_local std::vector<float> unfolded;
  const std::int64_t places = (strip.last - strip.first) * conv.ow;
  unfolded.resize(static_cast<std::size_t>(conv.terms() * pitch));
  for (std::int64_t k = 0; k < conv.terms(); ++k) {
    float* row = unfolded.data() + k * pitch;
    unfold_row(conv, x, k, strip, row);
    std::fill(row + places, row + pitch, 0.0f);
  }
  return unfolded.data();
}

// A strip of one image and group.
void forward_strip(const Conv2d& conv, const float* x, const float* weight, const float* bias,
                   Strip strip, float* y) {
  thread_local std::vector<float> sums;
  const std::int64_t all = conv.oh * conv.ow, m = conv.group_m();
  const std::int64_t places = (strip.last - strip.first) * conv.ow;
  const std::int64_t pitch = round_up_to_vector(places);
  const bool is_whole = pitch == places;  // else a vector of sums is longer than its row
  sums.resize(static_cast<std::size_t>(is_whole ? 0 : m * pitch));
  float* to = y + strip.first * conv.ow;
  float* product = is_whole ? to : sums.data();
  const std::int64_t step = is_whole ? all : pitch;
  if (is_pointwise(conv) && is_whole) {
    gemm({m, pitch, conv.terms(), conv.terms(), all, step}, weight, x, product);
  } else {
    gemm({m, pitch, conv.terms(), conv.terms(), pitch, step}, weight,
         unfolded_strip(conv, x, strip, pitch), product);
  }
  if (is_whole && bias == nullptr) return;
  for (std::int64_t i = 0; i < m; ++i) {
    const float add = bias == nullptr ? 0.0f : bias[i];
    std::transform(product + i * step, product + i * step + places, to + i * all,
                   [add](float sum) { return sum + add; });
  }
}

// One image and group.
void forward_part(const Conv2d& conv, const float* x, const float* weight, const float* bias,
                  float* y) {
  const std::int64_t rows = strip_rows(conv);
  for (std::int64_t first = 0; first < conv.oh; first += rows) {
    forward_strip(conv, x, weight, bias, {first, std::min(first + rows, conv.oh)}, y);
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

// One image and group.
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
  const bool is_direct = is_pointwise(conv) && pitch == places;
  unfolded.resize(static_cast<std::size_t>(is_direct ? 0 : terms * pitch));
  gemm({terms, pitch, m, m, pitch, pitch}, turned.data(), dy, is_direct ? dx : unfolded.data());
  if (is_direct) return;
  std::fill_n(dx, conv.group_c() * conv.h * conv.w, 0.0f);
  for (std::int64_t k = 0; k < terms; ++k) fold_row(conv, unfolded.data() + k * pitch, k, dx);
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
          unfold_row(conv, x, k, {0, conv.oh}, unfolded->data() + k * places);
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

// Each thread turns the weights and has a group of an image, padded and unfolded.
std::size_t part_bytes(const Problem& problem) {
  const Conv2d conv = conv2d_shape(problem);
  const std::int64_t pitch = round_up_to_vector(conv.oh * conv.ow), m = conv.group_m();
  return in_fp32_bytes(problem) +
         static_cast<std::size_t>(thread_count() * (conv.terms() * (m + pitch) + m * pitch)) *
             sizeof(float);
}

// Each thread unfolds a strip and may keep the sums of one.
std::size_t strip_bytes(const Problem& problem) {
  const Conv2d conv = conv2d_shape(problem);
  const std::int64_t pitch = round_up_to_vector(strip_rows(conv) * conv.ow);
  return in_fp32_bytes(problem) +
         static_cast<std::size_t>(thread_count() * pitch * (conv.terms() + conv.group_m())) *
             sizeof(float);
}

const RegisteredKernel conv2d{{
    .op = "conv2d",
    .name = "native",
    .provider = Provider::framework,
    .summary =
        "im2col and a product in fp32, rows of an image at a time; depthwise: plane by plane",
    .refusal = refuse_private,
    .prepare = forward,
    .temporary_bytes = strip_bytes,
}};

const RegisteredKernel conv2d_grad_input{{
    .op = "conv2d_grad_input",
    .name = "native",
    .provider = Provider::framework,
    .summary = "a product and col2im in fp32, image by image; depthwise: plane by plane",
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
