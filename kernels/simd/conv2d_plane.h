#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensor/dtype.h"

namespace opbench {

/// The inputs of place 0 that a tap multiplies, and the place of its 16 sums.
struct DepthwiseTerm {
  const float* x;
  float* sums;
};

/// Rows of places of 16 lanes side by side; the rows of dy are contiguous.
struct DepthwisePlaces {
  const float* dy;
  std::int64_t rows, count;  ///< count: places of a row
  std::int64_t x_row;        ///< elements of x from one row to the next
};

/// sums[lane] += x[place][lane] * dy[place][lane] for every term and place, in order.
void add_depthwise_terms(const DepthwisePlaces& places, std::span<const DepthwiseTerm> terms);

/// Places of a gradient by the weight: `rows` of `images` with `places` each. Those of dy are in
/// one or two blocks of 16 outputs.
struct FilterTile {
  std::int64_t images, rows, places;
  const float *x, *dy;                      ///< of the first place, as cube operands
  std::int64_t x_image, x_row, x_place;     ///< elements from one to the next
  std::int64_t dy_image, dy_row, dy_block;  ///< elements from one to the next
  std::int64_t width;                       ///< 16 or 32 outputs
};

/// sums[term][output] += x[place * x_place + offsets[term]] * dy[place][output] over the tile's
/// places in order; on one thread, with the same bits for every instruction set.
void add_filter_terms(const FilterTile& tile, std::span<const std::int64_t> offsets, float* sums);

/// Source and destination of places, in elements. Phase p has the p-th place after the first of
/// each step.
struct PlaceSteps {
  std::int64_t from = 16, to = 16;  ///< from one place of a phase to the next
  std::int64_t rows = 1, from_row = 0, to_row = 0;
  std::int64_t phases = 1, to_phase = 0;  ///< from one phase to the next
};

/// Loads `count` places of every row and phase, with 16 channels each, as cube operands.
/// Destinations 4 elements apart get only the first 4 channels. Memory is read in order.
void load_places(DType dtype, const void* from, const PlaceSteps& steps, std::int64_t count,
                 float* to);

/// Transposes the first `rows` columns of 16 x 16 numbers to rows of `to`, `pitch` apart.
void transpose_block(const float* from, std::int64_t rows, std::int64_t pitch, float* to);

/// A tap of the kernel along one axis: its inputs for place 0, in elements, and its weights, in
/// taps. It meets only places [begin, end).
struct ConvTap {
  std::int64_t x, w, begin, end;

  bool meets(std::int64_t place, std::int64_t count) const {
    return begin < place + count && end > place;
  }
};

/// Places of y along one axis with the same taps: elements first, first + step, ...
struct ConvPhase {
  std::int64_t first, count;
  std::vector<ConvTap> taps;
};

/// Places of an image of a convolution, for one or two blocks of 16 sums: y[place][sum] = bias[sum]
/// + the sum over taps and channels of x[place][channel] * w[channel][sum]. Products are added in
/// the order of the first axis's taps, the second's taps, and channels.
struct ConvImage {
  std::span<const ConvPhase> rows, columns;
  std::int64_t begin, end;             ///< places of the first axis
  std::int64_t row_step, column_step;  ///< elements of y from one place of an axis to the next
  std::int64_t y_width;                ///< elements of a row of y

  const float* x;      ///< cube operands of place `begin`, [channels/16][row][place][lanes]
  std::int64_t lanes;  ///< 16, or 4 if there are at most 4 channels
  std::int64_t row_elements;
  std::int64_t plane;     ///< from one 16 channels of x to the next 16
  std::int64_t channels;  ///< valid channels; later ones in x are not read

  const float* w;      ///< [tap][channel][width]
  std::int64_t width;  ///< 16 or 32 sums
  const float* bias;   ///< [width]

  DType dtype;           ///< of y: fp32 or fp16
  void* y[2];            ///< one plane for each 16 sums
  std::int64_t used[2];  ///< valid sums of each plane; zeros are stored for the others
};

/// Convolves on one thread, with the same bits for every instruction set.
void convolve(const ConvImage& image);

/// Like convolve, for 16 channels that each have their own kernel and sum: w is [tap][16].
void convolve_depthwise(const ConvImage& image);

}  // namespace opbench
