#pragma once

#include <cstdint>

#include "ops/movement.h"
#include "tensor/dtype.h"

namespace opbench {

/// Lines of fp32, fp16 or bf16 along an axis, computed in fp32 on all threads. If the axis is not
/// the last one, neighbouring lines are computed side by side in vectors. Sums of contiguous lines
/// have 64 lanes (kernels/simd/row_sums.h), others add along the axis. A NaN in a line makes all of
/// its results NaN.
struct SoftmaxLines {
  DType dtype;
  AxisView view;
  bool streams = false;  ///< stores gradients of contiguous lines past the cache
};

inline constexpr std::int64_t kSoftmaxTile = 64;  ///< lines that are computed side by side

/// The way from exp to the share of the sum.
enum class Share {
  quotient,   ///< exp/sum, like frameworks
  product,    ///< exp times 1/sum, like the device
  logarithm,  ///< of the share: x - greatest - log(sum)
};

/// y = exp(x - greatest) as a share of their sum.
void softmax_lines(const SoftmaxLines& lines, Share share, const void* x, void* y);

/// dx = (dy - sum(dy*y))*y; for logarithms dy - exp(y)*sum(dy).
void softmax_grad_lines(const SoftmaxLines& lines, Share share, const void* dy, const void* y,
                        void* dx);

/// The sum of exp(x - greatest) of a line.
struct LineSum {
  float greatest, sum;
};

/// The sum for a contiguous line of `count` elements.
LineSum sum_of_exp(DType dtype, const void* x, std::int64_t count);

/// y = x - of.greatest - log(of.sum), in fp32.
void log_softmax_line(DType dtype, const void* x, std::int64_t count, const LineSum& of, float* y);

/// y = exp(x - of.greatest) as a share of of.sum, times `scale`.
void scaled_softmax_line(DType dtype, const void* x, std::int64_t count, const LineSum& of,
                         Share share, float scale, void* y);

}  // namespace opbench
