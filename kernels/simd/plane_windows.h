#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ops/conv2d.h"
#include "ops/pool.h"
#include "tensor/dtype.h"

namespace opbench {

/// Planes of x with their padding, in which the inputs of a tap for neighbouring windows are
/// adjacent: with a stride, every stride-th row and column form a separate plane. Window (oh, ow)
/// is place (oh - first)*pitch + ow for the rows of y from `first` on. A row has pitch - ow more
/// places, which are not used.
class PaddedPlanes {
 public:
  /// For `rows` rows of y.
  PaddedPlanes(const Conv2d& conv, std::int64_t rows);

  std::int64_t pitch() const { return pitch_; }
  /// The number of elements of a channel.
  std::int64_t channel() const { return phases_.h * phases_.w * rows_ * pitch_; }
  /// The place of each tap's input in a channel, for the window of place 0.
  const std::vector<std::int64_t>& taps() const { return taps_; }
  /// The place of each term's input in a group: the taps of every channel.
  std::vector<std::int64_t> terms() const;
  /// Fills a channel of x for rows of y from `first` on.
  void fill(const float* plane, std::int64_t first, float* to) const;

 private:
  Conv2d conv_;
  Pair phases_;  // planes of a channel; one if only the first would be used
  std::int64_t rows_, pitch_;
  std::vector<std::int64_t> taps_;
};

/// A plane of a max pool with 16 channels side by side, in fp32, fp16 or bf16. y[i][lane] = the
/// greatest element of window i, places[i][lane] = its place in the plane: of the first of equal
/// elements, of the last NaN. `across`: taps_of(pool.columns(), pool.ow). `stream`: past the cache;
/// y is then aligned to 16 elements, places to 64 bytes.
void max_of_lane_windows(const Pool& pool, std::span<const TapRange> across, DType dtype,
                         bool stream, const void* x, void* y, std::int64_t* places);

/// Planes of one channel, [h, w] and [oh, ow] in fp32, and the windows of one on the other. On one
/// thread, with rows of the output in vectors. Products are fused if the instruction set supports
/// it (avx2, avx3).

/// y = start + x correlated with the `taps` of a kernel; `planes` is for all rows of y.
void correlate_plane(const Conv2d& conv, const PaddedPlanes& planes, const float* x,
                     const float* taps, float start, float* y);

/// dx += dy spread by the taps, tap by tap.
void spread_plane(const Conv2d& conv, const float* dy, const float* taps, float* dx);

/// taps[k] += the sum of dy times the inputs of tap k in x.
void add_taps_of_plane(const Conv2d& conv, const float* dy, const float* x, float* taps);

/// y[i] = the greatest element of window i, places[i] = its place in x: of the first of equal
/// elements, of the last NaN.
void max_of_plane(const Pool& pool, const float* x, float* y, std::int64_t* places);

}  // namespace opbench
