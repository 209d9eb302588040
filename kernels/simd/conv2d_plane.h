#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensor/dtype.h"

namespace opbench {

/// Inputs of place 0 that a tap's sums multiply, and where the 16 sums are.
struct DepthwiseTerm {
  const float* x;
  float* sums;
};

/// Rows of places of 16 lanes side by side; those of dy follow one another.
struct DepthwisePlaces {
  const float* dy;
  std::int64_t rows, count;  ///< count: places of a row
  std::int64_t x_row;        ///< elements of x from a row to the next
};

/// sums[lane] += x[place][lane] * dy[place][lane] for every term and place, in their order.
void add_depthwise_terms(const DepthwisePlaces& places, std::span<const DepthwiseTerm> terms);

/// Places of a gradient by the weight: `rows` of `images` with `places` each, those of dy side by
/// side in one or two blocks of 16 outputs.
struct FilterTile {
  std::int64_t images, rows, places;
  const float *x, *dy;                      ///< of the first place, cube operands
  std::int64_t x_image, x_row, x_place;     ///< elements from one to the next
  std::int64_t dy_image, dy_row, dy_block;  ///< the same
  std::int64_t width;                       ///< 16 or 32 outputs
};

/// sums[term][output] += x[place * x_place + offsets[term]] * dy[place][output] over the tile's
/// places in their order; one thread, the same bits with every instruction set.
void add_filter_terms(const FilterTile& tile, std::span<const std::int64_t> offsets, float* sums);

/// Where places lie and where they go, in elements. Those of phase p are the p-th after the first
/// of each step.
struct PlaceSteps {
  std::int64_t from = 16, to = 16;  ///< from a place of a phase to the next
  std::int64_t rows = 1, from_row = 0, to_row = 0;
  std::int64_t phases = 1, to_phase = 0;  ///< from a phase to the next
};

/// `count` places of every row and phase, of 16 channels each, as cube operands: where they go 4
/// elements apart only the first 4 channels. Memory is read in its order.
void load_places(DType dtype, const void* from, const PlaceSteps& steps, std::int64_t count,
                 float* to);

/// The first `rows` columns of 16 x 16 numbers as rows of `to`, `pitch` apart.
void transpose_block(const float* from, std::int64_t rows, std::int64_t pitch, float* to);

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
