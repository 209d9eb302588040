#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/simd/plane_windows.h"

namespace opbench {

/// `count` rounded up to what a product of matrices takes.
inline std::int64_t round_up_to_vector(std::int64_t count) { return (count + 15) / 16 * 16; }

/// 0, of, 2*of ...: `count` numbers.
std::vector<std::int64_t> multiples(std::int64_t count, std::int64_t of);

/// Empty, or why a framework's convolution does not take tensors like these.
std::string plain_conv2d_refusal(const Problem& problem);

/// Every channel is a group with one output: its plane is all there is to it.
inline bool is_by_planes(const Conv2d& conv) { return conv.group_c() == 1 && conv.group_m() == 1; }

/// A convolution in plain formats as products of the weights and what the windows meet: of an image
/// and group as many rows of y at a time as leave half of a core's own cache empty.
class ConvStrips {
 public:
  explicit ConvStrips(const Conv2d& conv);

  /// Elements that each thread has as temporaries.
  std::int64_t temporaries() const;
  /// y from fp32 x [n, c, h, w], weight [m, c/groups, taps] and bias [m] or null, on all threads.
  void run(const float* x, const float* weight, const float* bias, float* y) const;

 private:
  std::int64_t padded_elements() const;
  std::int64_t sum_elements() const;
  void strip(std::int64_t first, const float* x, const float* weight, const float* bias,
             float* y) const;
  void whole(const float* x, const float* weight, const float* bias, float* y) const;

  Conv2d conv_;
  bool is_whole_;  // a window is the channels of a pixel, which need no copy
  std::int64_t rows_;
  PaddedPlanes planes_;
  std::vector<std::int64_t> weight_rows_, weight_terms_, terms_;
};

}  // namespace opbench
