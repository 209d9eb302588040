#include <algorithm>
#include <cstring>

#include "kernels/simd/plane_windows.h"

namespace opbench {
namespace {

// Rows of a plane are short: a call of the C library would take longer than the copy of a row. It
// is copied in pieces of 16 elements, the last of which may overlap the one before.
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

PaddedPlanes::PaddedPlanes(const Conv2d& conv, std::int64_t rows) : conv_(conv) {
  const auto& [kernel, stride, padding, dilation] = conv.window;
  phases_ = {kernel.h == 1 ? 1 : stride.h, kernel.w == 1 ? 1 : stride.w};
  rows_ = rows + (kernel.h - 1) * dilation.h / stride.h;
  pitch_ = conv.ow + (kernel.w - 1) * dilation.w / stride.w;
  for (std::int64_t k = 0; k < conv.taps(); ++k) {
    const std::int64_t h = k / kernel.w * dilation.h, w = k % kernel.w * dilation.w;
    const std::int64_t phase = h % stride.h * phases_.w + w % stride.w;
    taps_.push_back((phase * rows_ + h / stride.h) * pitch_ + w / stride.w);
  }
}

std::vector<std::int64_t> PaddedPlanes::terms() const {
  std::vector<std::int64_t> places;
  for (std::int64_t c = 0; c < conv_.group_c(); ++c) {
    for (const std::int64_t tap : taps_) places.push_back(c * channel() + tap);
  }
  return places;
}

void PaddedPlanes::fill(const float* plane, std::int64_t first, float* to) const {
  const auto& [kernel, stride, padding, dilation] = conv_.window;
  for (std::int64_t i = 0; i < phases_.h * phases_.w; ++i) {
    // Columns [begin, end) of the plane are inside x, from its column from_w on.
    const std::int64_t from_h = first * stride.h + i / phases_.w - padding.h;
    const std::int64_t from_w = i % phases_.w - padding.w;
    const std::int64_t before = from_w >= 0 ? 0 : (stride.w - 1 - from_w) / stride.w;
    const std::int64_t begin = std::min(pitch_, before);
    const std::int64_t inside = conv_.w > from_w ? (conv_.w - 1 - from_w) / stride.w + 1 : 0;
    const std::int64_t end = std::max(begin, std::min(pitch_, inside));
    for (std::int64_t row = 0; row < rows_; ++row, to += pitch_) {
      const std::int64_t h = from_h + row * stride.h;
      if (h < 0 || h >= conv_.h || begin == end) {
        zero_short(pitch_, to);
        continue;
      }
      if (end - begin < pitch_) zero_short(pitch_, to);
      const float* from = plane + h * conv_.w + from_w + begin * stride.w;
      if (stride.w == 1) {
        copy_short(from, end - begin, to + begin);
        continue;
      }
      for (std::int64_t w = begin; w < end; ++w, from += stride.w) to[w] = *from;
    }
  }
}

}  // namespace opbench
