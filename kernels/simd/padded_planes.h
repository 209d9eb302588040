#pragma once

#include <cstdint>
#include <vector>

#include "ops/conv2d.h"

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

}  // namespace opbench
