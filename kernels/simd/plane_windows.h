#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ops/conv2d.h"
#include "ops/pool.h"
#include "tensor/dtype.h"

namespace opbench {

/// Planes of x with their padding, so that what a tap of the kernel meets in windows side by side
/// lies side by side: with a stride, every stride-th row and column make a plane of their own.
/// Window (oh, ow) is place (oh - first)*pitch + ow for the rows of y from `first` on; a row has
/// pitch - ow places more, which mean nothing.
class PaddedPlanes {
 public:
  /// For `rows` rows of y.
  PaddedPlanes(const Conv2d& conv, std::int64_t rows);

  std::int64_t pitch() const { return pitch_; }
  /// Elements of a channel.
  std::int64_t channel() const { return phases_.h * phases_.w * rows_ * pitch_; }
  /// Where in a channel each tap meets the window of place 0.
  const std::vector<std::int64_t>& taps() const { return taps_; }
  /// Where in a group each of its terms does: every channel's taps.
  std::vector<std::int64_t> terms() const;
  /// A channel of x for rows of y from `first` on.
  void fill(const float* plane, std::int64_t first, float* to) const;

 private:
  Conv2d conv_;
  Pair phases_;  // planes of a channel; one where only the first would be met
  std::int64_t rows_, pitch_;
  std::vector<std::int64_t> taps_;
};

/// A plane of a max pool with 16 channels side by side, in fp32, fp16 or bf16: y[i][lane] = the
/// greatest element of window i, places[i][lane] = where it lies in the plane; the first of equals,
/// the last NaN. `across`: taps_of(pool.columns(), pool.ow). `stream`: past the cache; y is then
/// aligned to 16 elements, places to 64 bytes.
void max_of_lane_windows(const Pool& pool, std::span<const TapRange> across, DType dtype,
                         bool stream, const void* x, void* y, std::int64_t* places);

/// Planes of one channel, [h, w] and [oh, ow] in fp32, and the windows of one on the other. One
/// thread; rows of the output in vectors. Products are fused where the instruction set has it
/// (avx2, avx3).

/// y = start + x correlated with the `taps` of a kernel; `planes`: for all rows of y.
void correlate_plane(const Conv2d& conv, const PaddedPlanes& planes, const float* x,
                     const float* taps, float start, float* y);

/// dx += dy spread by the taps, tap after tap.
void spread_plane(const Conv2d& conv, const float* dy, const float* taps, float* dx);

/// taps[k] += the sum of dy times what tap k meets of x.
void add_taps_of_plane(const Conv2d& conv, const float* dy, const float* x, float* taps);

/// y[i] = the greatest element of window i, places[i] = where it lies in x: the first of equals,
/// the last NaN.
void max_of_plane(const Pool& pool, const float* x, float* y, std::int64_t* places);

}  // namespace opbench
