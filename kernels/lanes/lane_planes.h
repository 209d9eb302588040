#pragma once

#include <cstdint>

namespace opbench {

/// Planes of places with 16 channels side by side, in fp32. No products are fused, so every
/// instruction set gives the same bits.

/// sums[lane] = the sum of x[i][lane], squares[lane] = that of x[i][lane]^2, over `count` places in
/// their order.
void sum_and_squares(std::int64_t count, const float* x, float* sums, float* squares);

/// sums[lane] = the sum of dy[i][lane], products[lane] = that of dy[i][lane]*(x[i][lane] -
/// mean[lane]).
void sum_and_products(std::int64_t count, const float* dy, const float* x, const float* mean,
                      float* sums, float* products);

/// What scale_lanes does to each channel.
struct LaneScales {
  const float *a, *b, *c;
};

/// y[i][lane] = a*x + (b*z + c); without z, a*x + c. y may be x.
void scale_lanes(std::int64_t count, const LaneScales& of, const float* x, const float* z,
                 float* y);

/// A window of a pool on a plane of rows of `row` places.
struct LaneWindow {
  std::int64_t row, first_h, last_h, first_w, last_w;
};

/// best[lane] = the greatest value in the window, place[lane] = where it lies in the plane; the
/// first of equals, the last NaN.
void max_of_window(const LaneWindow& window, const float* x, float* best, std::int32_t* place);

}  // namespace opbench
