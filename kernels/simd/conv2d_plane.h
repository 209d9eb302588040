#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensor/dtype.h"

namespace opbench {

/// What a tap of the kernel meets along one axis: its inputs for place 0, in elements, and its
/// weights, in taps; other places than [begin, end) meet nothing.
struct ConvTap {
  std::int64_t x, w, begin, end;

  bool meets(std::int64_t place, std::int64_t count) const {
    return begin < place + count && end > place;
  }
};

/// Places of y along one axis that take the same taps: elements first, first + step, ...
struct ConvPhase {
  std::int64_t first, count;
  std::vector<ConvTap> taps;
};

/// Places of an image of a convolution, for one or two blocks of 16 sums: y[place][sum] =
/// bias[sum] + the sum over taps and channels of x[place][channel] * w[channel][sum], products
/// added one after the other in the order of the first axis's taps, the second's, channels.
struct ConvImage {
  std::span<const ConvPhase> rows, columns;
  std::int64_t begin, end;             ///< places of the first axis
  std::int64_t row_step, column_step;  ///< elements of y along an axis from a place to the next
  std::int64_t y_width;                ///< elements of a row of y

  const float* x;      ///< cube operands of place `begin`, [channels/16][row][place][lanes]
  std::int64_t lanes;  ///< 16, or 4 where there are no more channels
  std::int64_t row_elements;
  std::int64_t plane;     ///< from 16 channels of x to the next 16
  std::int64_t channels;  ///< those that count; what lies past them in x is not read

  const float* w;      ///< [tap][channel][width]
  std::int64_t width;  ///< 16 or 32 sums
  const float* bias;   ///< [width]

  DType dtype;           ///< of y: fp32 or fp16
  void* y[2];            ///< a plane for each 16 sums
  std::int64_t used[2];  ///< of each plane's sums; zeros are stored for the others
};

/// One thread; the same bits with every instruction set.
void convolve(const ConvImage& image);

/// The same for 16 channels that each have a kernel and a sum of their own: w is [tap][16].
void convolve_depthwise(const ConvImage& image);

}  // namespace opbench
