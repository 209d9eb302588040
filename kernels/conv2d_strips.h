#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/simd/plane_windows.h"

namespace opbench {

/// `count` rounded up to a multiple of 16, as products of matrices require.
inline std::int64_t round_up_to_vector(std::int64_t count) { return (count + 15) / 16 * 16; }

/// 0, of, 2*of ...: `count` numbers.
std::vector<std::int64_t> multiples(std::int64_t count, std::int64_t of);

/// Empty, or the reason why a framework's convolution does not take tensors like these.
std::string plain_conv2d_refusal(const Problem& problem);

/// True if every channel is a group with one output: planes are independent.
inline bool is_by_planes(const Conv2d& conv) { return conv.group_c() == 1 && conv.group_m() == 1; }

/// A convolution in plain formats as products of the weights and the windows' inputs. It computes
/// as many rows of y of one image and group at a time as fit half of a core's own cache.
class ConvStrips {
 public:
  explicit ConvStrips(const Conv2d& conv);

  /// The number of elements of temporaries for each thread.
  std::int64_t temporaries() const;
  /// Computes y from fp32 x [n, c, h, w], weight [m, c/groups, taps] and bias [m] or null, on all
  /// threads.
  void run(const float* x, const float* weight, const float* bias, float* y) const;

 private:
  std::int64_t padded_elements() const;
  std::int64_t sum_elements() const;
  void strip(std::int64_t first, const float* x, const float* weight, const float* bias,
             float* y) const;
  void whole(const float* x, const float* weight, const float* bias, float* y) const;

  Conv2d conv_;
  bool is_whole_;  // a window is the channels of one pixel, which need no copy
  std::int64_t rows_;
  PaddedPlanes planes_;
  std::vector<std::int64_t> weight_rows_, weight_terms_, terms_;
};

}  // namespace opbench
