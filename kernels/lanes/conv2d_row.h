#pragma once

#include <cstdint>

#include "tensor/dtype.h"

namespace opbench {

/// Where what a tap of the kernel multiplies begins: its inputs of the row's first place, in
/// elements, and its weights, in taps.
struct RowTap {
  std::int64_t x, w;
};

/// The same along the row; other places than [begin, end) meet zeros.
struct ColumnTap {
  std::int64_t x, w, begin, end;
};

/// A row of places of a convolution for one or two blocks of 16 sums: y[place][sum] = bias[sum] +
/// the sum over taps and channels of x[place][channel] * w[channel][sum], products added one after
/// the other in the order of row taps, column taps, channels.
struct ConvRow {
  const float* x;  ///< cube operands, [channels/16][...][place][16]
  const float* w;  ///< [tap][channel][width]
  const RowTap* rows;
  const ColumnTap* columns;
  std::int64_t row_count, column_count;
  std::int64_t plane;     ///< from 16 channels of x to the next 16
  std::int64_t channels;  ///< those that count; what lies past them in x is not read
  std::int64_t width;     ///< 16 or 32 sums
  const float* bias;      ///< [width]
  std::int64_t places;
  DType dtype;           ///< of y: fp32 or fp16
  void* y[2];            ///< of the first place, 16 sums
  std::int64_t used[2];  ///< of each block's sums; zeros are stored for the others
  std::int64_t y_step;   ///< from a place to the next
};

/// One thread; the same bits with every instruction set.
void convolve_row(const ConvRow& row);

/// `count` places of 16 channels, `step` elements apart, as cube operands side by side.
void load_places(DType dtype, const void* from, std::int64_t step, std::int64_t count, float* to);

/// The first `rows` of 16 x 16 numbers to rows `pitch` apart.
void copy_rows(const float* from, std::int64_t rows, std::int64_t pitch, float* to);

/// The same with rows and columns exchanged.
void transpose_block(const float* from, std::int64_t rows, std::int64_t pitch, float* to);

}  // namespace opbench
