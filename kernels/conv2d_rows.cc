#include "kernels/conv2d_rows.h"

#include <algorithm>

#include "kernels/lanes/conv2d_pack.h"
#include "tensor/cache_sizes.h"

namespace opbench {
namespace {

ConvBands cut(const ConvAxis& h, std::int64_t images, std::int64_t row, const BandLimits& limits) {
  const std::int64_t places = h.places();
  const std::int64_t image = PackedAxis(h, places).count() * row + places * limits.beside;
  if (image <= limits.room) {
    const std::int64_t fitting = limits.room / std::max<std::int64_t>(1, image);
    return {images, places, std::max<std::int64_t>(1, std::min(fitting, limits.images)), places};
  }
  // Rows that windows of two bands meet are packed twice: few bands, then.
  const std::int64_t least = h.highest() > h.lowest() ? 4 : 1;
  const std::int64_t first = PackedAxis(h, 1).count() * row + limits.beside;
  const std::int64_t more = (limits.room - first) / (h.in_step * row + limits.beside);
  return {images, places, 1, std::min(places, std::max(least, 1 + more))};
}

std::vector<ConvPhase> phases_of(const ConvAxis& axis, const PackedAxis& packed, std::int64_t step,
                                 std::int64_t taps) {
  std::vector<ConvPhase> phases;
  for (const AxisPhase& phase : axis.phases) {
    ConvPhase& to = phases.emplace_back(ConvPhase{phase.first, phase.count, {}});
    for (const AxisTap& tap : phase.taps) {
      to.taps.push_back({packed.position(tap) * step, tap.tap * taps, tap.begin, tap.end});
    }
  }
  return phases;
}

}  // namespace

std::int64_t packed_room(std::int64_t others) {
  const auto all = static_cast<std::int64_t>(own_cache_bytes() / sizeof(float));
  return others <= all / 4 ? all / 8 : all / 2;
}

PackedAxis::PackedAxis(const ConvAxis& axis, std::int64_t places)
    : inputs(axis.inputs), step(axis.in_step), lowest(axis.lowest()) {
  const std::int64_t reach = axis.highest() - lowest;
  phases = std::min(step, reach + 1);
  each = places + reach / step;
}

ConvBand ConvBands::part(std::int64_t image, std::int64_t part) const {
  const std::int64_t begin = part * places_each;
  return {image, 1, begin, std::min(begin + places_each, places)};
}

ConvBand ConvBands::operator[](std::int64_t index) const {
  ConvBand band = part(index / place_parts() * images_each, index % place_parts());
  band.images = std::min(images_each, images - band.first);
  return band;
}

ConvRows::ConvRows(const ChannelPlanes& in, const ConvAxis& h, const ConvAxis& w,
                   std::int64_t blocks, std::int64_t lanes, const BandLimits& limits)
    : in_(in),
      blocks_(blocks),
      lanes_(lanes),
      columns_(w, w.places()),
      bands_(cut(h, in.outer, std::max<std::int64_t>(1, blocks * row_elements()), limits)),
      rows_(h, bands_.places_each),
      row_phases_(phases_of(h, rows_, row_elements(), w.kernel)),
      column_phases_(phases_of(w, columns_, lanes_, 1)) {}

void ConvRows::pack(const void* from, const ConvBand& band, std::int64_t base, std::int64_t blocks,
                    float* to) const {
  for (std::int64_t i = 0; i < band.images * blocks; ++i) {
    const std::int64_t n = i / blocks, b = i % blocks;
    const void* plane = in_.address(from, (band.first + n) * in_.planes + base + b);
    float* rows = to + (n * blocks_ + b) * plane_elements();
    for (std::int64_t k = 0; k < rows_.count(); ++k) {
      const std::int64_t row =
          (band.begin + k % rows_.each) * rows_.step + rows_.lowest + k / rows_.each;
      if (row < 0 || row >= rows_.inputs) continue;
      pack_row(at(plane, in_.dtype, row * columns_.inputs * kCube), rows + k * row_elements());
    }
  }
}

void ConvRows::pack_row(const void* from, float* to) const {
  const std::int64_t step = columns_.step;
  for (std::int64_t phase = 0; phase < columns_.phases; ++phase, to += columns_.each * lanes_) {
    const std::int64_t first = columns_.lowest + phase;
    const std::int64_t begin =
        std::clamp<std::int64_t>((step - 1 - first) / step, 0, columns_.each);
    const std::int64_t end =
        std::clamp((columns_.inputs - first + step - 1) / step, begin, columns_.each);
    std::fill(to, to + begin * lanes_, 0.0f);
    load_places(in_.dtype, at(from, in_.dtype, (begin * step + first) * kCube), step * kCube,
                end - begin, to + begin * lanes_, lanes_);
    std::fill(to + end * lanes_, to + columns_.each * lanes_, 0.0f);
  }
}

}  // namespace opbench
