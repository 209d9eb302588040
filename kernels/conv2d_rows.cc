#include "kernels/conv2d_rows.h"

#include <algorithm>

#include "kernels/lanes/conv2d_row.h"
#include "tensor/cache_sizes.h"

namespace opbench {

ConvRows::ConvRows(const ChannelPlanes& in, const ConvAxis& h, const ConvAxis& w)
    : in_(in), h_(h), w_(w), lowest_(w.lowest()) {
  const std::int64_t reach = w.highest() - lowest_;
  phases_ = std::min(w.in_step, reach + 1);
  columns_ = w.places() + reach / w.in_step;
}

std::int64_t ConvRows::column_of(const AxisTap& tap) const {
  const std::int64_t shift = tap.offset - lowest_;
  return (shift % w_.in_step * columns_ + shift / w_.in_step) * kCube;
}

std::int64_t ConvRows::rows_of(std::int64_t places) const {
  const std::int64_t reach = h_.highest() - h_.lowest();
  return std::min(h_.inputs, (places - 1) * h_.in_step + reach + 1);
}

std::int64_t ConvRows::choose_rows(const ConvBand& band, std::vector<std::int64_t>& slots) const {
  slots.assign(static_cast<std::size_t>(h_.inputs), -1);
  for (const AxisPhase& phase : h_.phases) {
    for (const AxisTap& tap : phase.taps) {
      const std::int64_t begin = std::max(band.begin, h_.begin(tap));
      const std::int64_t end = std::min({band.end, phase.count, h_.end(tap)});
      for (std::int64_t q = begin; q < end; ++q) {
        slots[static_cast<std::size_t>(q * h_.in_step + tap.offset)] = 0;
      }
    }
  }
  std::int64_t rows = 0;
  for (std::int64_t& slot : slots) {
    if (slot == 0) slot = rows++;
  }
  return rows;
}

void ConvRows::pack(const void* from, const ConvBand& band, std::int64_t base, std::int64_t blocks,
                    std::int64_t pitch, const std::vector<std::int64_t>& slots, std::int64_t rows,
                    float* to) const {
  for (std::int64_t i = 0; i < band.images * blocks; ++i) {
    const std::int64_t n = i / blocks, b = i % blocks;
    const std::int64_t plane = (band.first + n) * in_.planes + base + b;
    float* rows_to = to + (n * pitch + b) * rows * row_elements();
    for (std::int64_t row = 0; row < h_.inputs; ++row) {
      const std::int64_t slot = slots[static_cast<std::size_t>(row)];
      if (slot < 0) continue;
      pack_row(at(from, in_.dtype, plane * in_.elements() + row * w_.inputs * kCube),
               rows_to + slot * row_elements());
    }
  }
}

void ConvRows::pack_row(const void* from, float* to) const {
  const std::int64_t step = w_.in_step;
  for (std::int64_t phase = 0; phase < phases_; ++phase, to += columns_ * kCube) {
    const AxisTap reached{0, lowest_ + phase};
    const std::int64_t begin = std::min(w_.begin(reached), columns_);
    const std::int64_t end = std::clamp(w_.end(reached), begin, columns_);
    std::fill(to, to + begin * kCube, 0.0f);
    load_places(in_.dtype, at(from, in_.dtype, (begin * step + reached.offset) * kCube),
                step * kCube, end - begin, to + begin * kCube);
    std::fill(to + end * kCube, to + columns_ * kCube, 0.0f);
  }
}

ConvBands::ConvBands(const ConvRows& rows, const ConvAxis& h, std::int64_t image_count,
                     std::int64_t blocks, int threads)
    : images(image_count), places(h.places()), images_each(1), places_each(places) {
  // The other half is for the weights and the results.
  const auto room = static_cast<std::int64_t>(own_cache_bytes() / 2 / sizeof(float));
  const std::int64_t row = std::max<std::int64_t>(1, blocks * rows.row_elements());
  const std::int64_t image = row * std::max<std::int64_t>(1, rows.rows_of(places));
  if (image <= room) {
    const std::int64_t fair = (images + threads - 1) / threads;
    images_each = std::max<std::int64_t>(1, std::min(room / image, fair));
    return;
  }
  // Rows between bands are packed twice, so a few at least.
  const std::int64_t fitting = (room / row - rows.rows_of(1)) / h.in_step + 1;
  places_each = std::min(places, std::max<std::int64_t>(4, fitting));
}

ConvBand ConvBands::operator[](std::int64_t index) const {
  const std::int64_t first = index / place_parts() * images_each;
  const std::int64_t begin = index % place_parts() * places_each;
  return {first, std::min(images_each, images - first), begin,
          std::min(begin + places_each, places)};
}

}  // namespace opbench
