#pragma once

#include <cstdint>
#include <span>

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

}  // namespace opbench
