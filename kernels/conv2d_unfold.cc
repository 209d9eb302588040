#include "kernels/conv2d_unfold.h"

#include <algorithm>
#include <cstring>

namespace opbench {
namespace {

// Rows of a plane are short: a call of the C library for each would take longer than the copy.
// Pieces of 16, the last of which may overlap the one before.
constexpr std::int64_t kPiece = 16;

template <class Piece>
void by_pieces(std::int64_t count, const Piece& piece) {
  for (std::int64_t i = 0; i + kPiece < count; i += kPiece) piece(i);
  piece(count - kPiece);
}

void copy_short(const float* from, std::int64_t count, float* to) {
  if (count < kPiece) {
    std::copy_n(from, count, to);
    return;
  }
  by_pieces(count, [&](std::int64_t i) { std::memcpy(to + i, from + i, kPiece * sizeof(float)); });
}

void zero_short(std::int64_t count, float* to) {
  if (count < kPiece) {
    std::fill_n(to, count, 0.0f);
    return;
  }
  by_pieces(count, [&](std::int64_t i) { std::memset(to + i, 0, kPiece * sizeof(float)); });
}

}  // namespace

void unfold_row(const Conv2d& conv, const float* x, std::int64_t k, Strip strip, float* row) {
  const std::int64_t tap = k % conv.taps(), step = conv.window.stride.w;
  const float* plane = x + k / conv.taps() * conv.h * conv.w;
  const TapRows rows(conv, tap / conv.window.kernel.w, tap % conv.window.kernel.w);
  for (std::int64_t oh = strip.first; oh < strip.last; ++oh, row += conv.ow) {
    if (rows.end - rows.begin < conv.ow) zero_short(conv.ow, row);
    if (oh < rows.first || oh >= rows.last) {
      zero_short(conv.ow, row);
      continue;
    }
    const std::int64_t ih = oh * conv.window.stride.h + rows.from_h;
    const float* from = plane + ih * conv.w + rows.begin * step + rows.from_w;
    if (step == 1 && rows.begin < rows.end) {
      copy_short(from, rows.end - rows.begin, row + rows.begin);
      continue;
    }
    for (std::int64_t i = rows.begin; i < rows.end; ++i, from += step) row[i] = *from;
  }
}

void fold_row(const Conv2d& conv, const float* row, std::int64_t k, float* x) {
  const std::int64_t tap = k % conv.taps(), step = conv.window.stride.w;
  float* plane = x + k / conv.taps() * conv.h * conv.w;
  for_each_tap_row(conv, tap / conv.window.kernel.w, tap % conv.window.kernel.w,
                   [&](auto oh, auto ih, auto begin, auto end, auto column) {
                     const float* from = row + oh * conv.ow;
                     float* to = plane + ih * conv.w + column;
                     if (step == 1) {
                       for (std::int64_t i = begin; i < end; ++i) to[i - begin] += from[i];
                     } else {
                       for (std::int64_t i = begin; i < end; ++i, to += step) *to += from[i];
                     }
                   });
}

}  // namespace opbench
