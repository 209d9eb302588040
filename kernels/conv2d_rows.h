#pragma once

#include <cstdint>
#include <vector>

#include "kernels/conv2d_axis.h"
#include "kernels/lanes/channel_planes.h"

namespace opbench {

/// Images [first, first + images) and places [begin, end) of the first axis.
struct ConvBand {
  std::int64_t first, images, begin, end;
};

/// How the input of a convolution is packed, a band of rows at a time: as cube operands,
/// [image][block of 16 channels][row][phase][column][16]. Column k of phase f is the element
/// k*in_step + f after the lowest that a tap reaches, so that the places of a tap lie side by side;
/// beyond the row there are zeros. Rows that no place meets are left out.
class ConvRows {
 public:
  ConvRows(const ChannelPlanes& in, const ConvAxis& h, const ConvAxis& w);

  std::int64_t row_elements() const { return phases_ * columns_ * kCube; }
  /// Where a tap of the second axis meets a packed row for place 0.
  std::int64_t column_of(const AxisTap& tap) const;
  /// Rows that so many places meet, at most.
  std::int64_t rows_of(std::int64_t places) const;
  /// The slot of each row of the input that the band meets, -1 for others; returns how many meet.
  std::int64_t choose_rows(const ConvBand& band, std::vector<std::int64_t>& slots) const;
  /// Packs `blocks` blocks of channels from `base` on of the rows that have a slot; images lie
  /// `pitch` blocks apart.
  void pack(const void* from, const ConvBand& band, std::int64_t base, std::int64_t blocks,
            std::int64_t pitch, const std::vector<std::int64_t>& slots, std::int64_t rows,
            float* to) const;

 private:
  void pack_row(const void* from, float* to) const;

  ChannelPlanes in_;
  ConvAxis h_, w_;
  std::int64_t lowest_, phases_, columns_;
};

/// The cut of images and rows into bands, whose packed rows are to stay in a core's own cache, and
/// of which each of `threads` gets one if there are images enough.
struct ConvBands {
  std::int64_t images, places;  ///< all
  std::int64_t images_each, places_each;

  ConvBands(const ConvRows& rows, const ConvAxis& h, std::int64_t image_count, std::int64_t blocks,
            int threads);

  std::int64_t count() const { return image_parts() * place_parts(); }
  ConvBand operator[](std::int64_t index) const;

 private:
  std::int64_t image_parts() const { return (images + images_each - 1) / images_each; }
  std::int64_t place_parts() const { return (places + places_each - 1) / places_each; }
};

}  // namespace opbench
