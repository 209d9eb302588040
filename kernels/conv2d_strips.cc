#include "kernels/conv2d_strips.h"

#include <algorithm>

#include "kernels/simd/gemm.h"
#include "tensor/parallel.h"
#include "tensor/processor.h"

namespace opbench {
namespace {

bool is_whole(const Conv2d& conv) {
  const auto& [kernel, stride, padding, dilation] = conv.window;
  return conv.taps() == 1 && stride.h * stride.w == 1 && padding.h == 0 && padding.w == 0 &&
         conv.oh * conv.ow % 16 == 0;
}

// A product reads whole vectors: up to one vector behind the last channel.
std::int64_t padded_elements(const Conv2d& conv, const PaddedPlanes& planes) {
  return conv.group_c() * planes.channel() + round_up_to_vector(planes.pitch());
}

std::int64_t sum_elements(const Conv2d& conv, const PaddedPlanes& planes, std::int64_t rows) {
  return conv.group_m() * round_up_to_vector(rows * planes.pitch());
}

std::int64_t fitting_rows(const Conv2d& conv) {
  const auto cache = static_cast<std::int64_t>(own_cache_bytes() / sizeof(float) / 2);
  std::int64_t rows = std::max<std::int64_t>(1, conv.oh);
  const auto fits = [&] {
    const PaddedPlanes planes(conv, rows);
    return padded_elements(conv, planes) + sum_elements(conv, planes, rows) <= cache;
  };
  while (rows > 1 && !fits()) rows = (rows + 1) / 2;
  return rows;
}

}  // namespace

std::string plain_conv2d_refusal(const Problem& problem) {
  for (const TensorDesc& input : problem.inputs) {
    if (is_private(input.format)) return "a framework's convolution takes plain tensors";
  }
  return {};
}

std::vector<std::int64_t> multiples(std::int64_t count, std::int64_t of) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) all[static_cast<std::size_t>(i)] = i * of;
  return all;
}

ConvStrips::ConvStrips(const Conv2d& conv)
    : conv_(conv),
      is_whole_(is_whole(conv)),
      rows_(fitting_rows(conv)),
      planes_(conv, rows_),
      weight_rows_(multiples(conv.group_m(), conv.terms())),
      weight_terms_(multiples(conv.terms(), 1)),
      terms_(planes_.terms()) {}

std::int64_t ConvStrips::padded_elements() const {
  return opbench::padded_elements(conv_, planes_);
}
std::int64_t ConvStrips::sum_elements() const {
  return opbench::sum_elements(conv_, planes_, rows_);
}
std::int64_t ConvStrips::temporaries() const {
  return is_whole_ ? 0 : padded_elements() + sum_elements();
}

void ConvStrips::whole(const float* x, const float* weight, const float* bias, float* y) const {
  const std::int64_t all = conv_.oh * conv_.ow, m = conv_.group_m();
  gemm({m, all, conv_.terms(), conv_.terms(), all, all}, weight, x, y);
  for (std::int64_t i = 0; bias != nullptr && i < m; ++i) {
    for (std::int64_t k = 0; k < all; ++k) y[i * all + k] += bias[i];
  }
}

// Computes rows of y from `first` on, of one image and group.
void ConvStrips::strip(std::int64_t first, const float* x, const float* weight, const float* bias,
                       float* y) const {
  thread_local std::vector<float> padded, sums;
  padded.resize(static_cast<std::size_t>(padded_elements()));
  sums.resize(static_cast<std::size_t>(sum_elements()));
  const std::int64_t rows = std::min(rows_, conv_.oh - first), pitch = planes_.pitch();
  const std::int64_t n = round_up_to_vector((rows - 1) * pitch + conv_.ow);
  for (std::int64_t c = 0; c < conv_.group_c(); ++c) {
    planes_.fill(x + c * conv_.h * conv_.w, first, padded.data() + c * planes_.channel());
  }
  gemm_at({conv_.group_m(), n, conv_.terms(), 0, 0, n},
          {weight_rows_.data(), weight_terms_.data(), terms_.data()}, weight, padded.data(),
          sums.data());
  for (std::int64_t i = 0; i < conv_.group_m(); ++i) {
    const float add = bias == nullptr ? 0.0f : bias[i];
    const float* from = sums.data() + i * n;
    float* to = y + (i * conv_.oh + first) * conv_.ow;
    for (std::int64_t row = 0; row < rows; ++row, from += pitch, to += conv_.ow) {
      for (std::int64_t k = 0; k < conv_.ow; ++k) to[k] = from[k] + add;
    }
  }
}

void ConvStrips::run(const float* x, const float* weight, const float* bias, float* y) const {
  const std::int64_t strips = is_whole_ ? 1 : (conv_.oh + rows_ - 1) / rows_;
  parallel_blocks(conv_.n * conv_.groups * strips, [&](std::int64_t i) {
    const std::int64_t part = i / strips, first_m = part % conv_.groups * conv_.group_m();
    const float* x_part = x + part * conv_.group_c() * conv_.h * conv_.w;
    const float* weight_part = weight + first_m * conv_.terms();
    const float* bias_part = bias == nullptr ? nullptr : bias + first_m;
    float* y_part = y + part * conv_.group_m() * conv_.oh * conv_.ow;
    if (is_whole_) return whole(x_part, weight_part, bias_part, y_part);
    strip(i % strips * rows_, x_part, weight_part, bias_part, y_part);
  });
}

}  // namespace opbench
