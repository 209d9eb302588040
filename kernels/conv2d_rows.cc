#include <algorithm>

#include "kernels/conv2d_plan.h"
#include "kernels/simd/conv2d_plane.h"
#include "tensor/processor.h"

namespace opbench {

namespace {

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a >= 0 ? a / b : -((b - 1 - a) / b);
}

// Adds the tap if a place of the phase meets an element.
void add_tap(const ConvAxis& axis, AxisPhase& phase, std::int64_t tap, std::int64_t offset) {
  const std::int64_t begin = std::max<std::int64_t>(0, -floor_div(offset, axis.in_step));
  const std::int64_t end =
      std::min(floor_div(axis.inputs - 1 - offset, axis.in_step) + 1, phase.count);
  if (begin < end) phase.taps.push_back({tap, offset, begin, end});
}

ConvBands cut(const ConvAxis& h, std::int64_t images, std::int64_t row, const BandLimits& limits) {
  const std::int64_t places = h.places();
  const std::int64_t image = PackedAxis(h, places).count() * row + places * limits.beside;
  if (image <= limits.room) {
    const std::int64_t fitting = limits.room / std::max<std::int64_t>(1, image);
    return {images, places, std::max<std::int64_t>(1, std::min(fitting, limits.images)), places};
  }
  // Rows that the windows of two bands meet are packed twice, so bands should be few.
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

// The places k in [0, each) with `begin` <= k*step < `end`.
PlaceRange inside(std::int64_t begin, std::int64_t end, std::int64_t step, std::int64_t each) {
  const std::int64_t first = std::clamp<std::int64_t>((begin + step - 1) / step, 0, each);
  return {first, std::clamp((end + step - 1) / step, first, each)};
}

}  // namespace

std::int64_t ConvAxis::lowest() const {
  bool any = false;
  std::int64_t result = 0;
  for (const AxisPhase& phase : phases) {
    for (const AxisTap& tap : phase.taps) {
      result = any ? std::min(result, tap.offset) : tap.offset;
      any = true;
    }
  }
  return result;
}

std::int64_t ConvAxis::highest() const {
  std::int64_t result = lowest();
  for (const AxisPhase& phase : phases) {
    for (const AxisTap& tap : phase.taps) result = std::max(result, tap.offset);
  }
  return result;
}

ConvAxis ConvAxis::forward(std::int64_t outputs, std::int64_t inputs, std::int64_t kernel,
                           std::int64_t stride, std::int64_t padding, std::int64_t dilation) {
  ConvAxis axis{kernel, inputs, stride, 1, {{0, outputs, {}}}};
  for (std::int64_t i = 0; i < kernel; ++i) {
    add_tap(axis, axis.phases.front(), i, i * dilation - padding);
  }
  return axis;
}

// Element o meets tap i if o + padding - i*dilation is a multiple of the stride.
ConvAxis ConvAxis::backward(std::int64_t outputs, std::int64_t inputs, std::int64_t kernel,
                            std::int64_t stride, std::int64_t padding, std::int64_t dilation) {
  ConvAxis axis{kernel, inputs, 1, stride, {}};
  for (std::int64_t o = 0; o < std::min(stride, std::max<std::int64_t>(outputs, 1)); ++o) {
    AxisPhase phase{o, (outputs - o + stride - 1) / stride, {}};
    for (std::int64_t i = 0; i < kernel; ++i) {
      const std::int64_t shifted = o + padding - i * dilation;
      if (shifted % stride == 0) add_tap(axis, phase, i, shifted / stride);
    }
    axis.phases.push_back(std::move(phase));
  }
  return axis;
}

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
      column_phases_(phases_of(w, columns_, lanes_, 1)),
      common_{0, columns_.each} {
  for (std::int64_t phase = 0; phase < columns_.phases; ++phase) {
    const std::int64_t first = columns_.lowest + phase;
    const auto [begin, end] =
        inside_.emplace_back(inside(-first, columns_.inputs - first, columns_.step, columns_.each));
    common_.begin = std::max(common_.begin, begin);
    common_.end = std::min(common_.end, end);
  }
  common_.end = std::max(common_.begin, common_.end);
}

void ConvRows::pack(const void* from, const ConvBand& band, std::int64_t base, std::int64_t blocks,
                    float* to) const {
  for (std::int64_t i = 0; i < band.images * blocks; ++i) {
    const std::int64_t n = i / blocks, b = i % blocks;
    const void* plane = in_.address(from, (band.first + n) * in_.planes + base + b);
    float* rows = to + (n * blocks_ + b) * plane_elements();
    for (std::int64_t phase = 0; phase < rows_.phases; ++phase) {
      // Row `first` of the image is number 0 of the phase.
      const std::int64_t first = band.begin * rows_.step + rows_.lowest + phase;
      const PlaceRange in = inside(-first, rows_.inputs - first, rows_.step, rows_.each);
      if (in.begin >= in.end) continue;
      const std::int64_t row = in.begin * rows_.step + first;
      pack_rows(at(plane, in_.dtype, row * columns_.inputs * kCube), in.end - in.begin,
                rows + (phase * rows_.each + in.begin) * row_elements());
    }
  }
}

void ConvRows::pack_rows(const void* from, std::int64_t count, float* to) const {
  const std::int64_t step = columns_.step, each = columns_.each;
  PlaceSteps steps{step * kCube,   lanes_, count,        rows_.step * columns_.inputs * kCube,
                   row_elements(), 1,      each * lanes_};
  const auto load = [&](std::int64_t phase, std::int64_t begin, std::int64_t end) {
    if (begin >= end) return;
    const std::int64_t element = begin * step + columns_.lowest + phase;
    load_places(in_.dtype, at(from, in_.dtype, element * kCube), steps, end - begin,
                to + (phase * each + begin) * lanes_);
  };
  for (std::int64_t phase = 0; phase < columns_.phases; ++phase) {
    const auto [begin, end] = inside_[static_cast<std::size_t>(phase)];
    load(phase, begin, std::min(common_.begin, end));
    load(phase, std::max(common_.end, begin), end);
    for (std::int64_t row = 0; row < count; ++row) {
      float* places = to + row * row_elements() + phase * each * lanes_;
      std::fill(places, places + begin * lanes_, 0.0f);
      std::fill(places + end * lanes_, places + each * lanes_, 0.0f);
    }
  }
  steps.phases = columns_.phases;
  load(0, common_.begin, common_.end);
}

}  // namespace opbench
