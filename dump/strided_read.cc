#include "dump/strided_read.h"

#include <algorithm>
#include <cstring>

#include "dump/hdf5/layout.h"

namespace opbench {
namespace {

constexpr std::size_t kPanelBytes = 16 << 20;
// Bytes of storage that are gathered at once, so that elements adjacent in logical order are
// written together.
constexpr std::int64_t kWindowBytes = 4 << 20;
// Reading a gap of this many bytes costs as much as another call.
constexpr std::int64_t kCheapGap = 4096;

// `to_step` counts elements of the result.
struct Axis {
  std::int64_t extent, step, to_step;

  std::int64_t reach() const { return (extent - 1) * step; }
};

using Axes = std::vector<Axis>;  // outermost first in logical order, without extents of 1

std::int64_t span_of(const Axes& axes) {
  std::int64_t span = 1;
  for (const Axis& axis : axes) span += axis.reach();
  return span;
}

std::int64_t count_of(const Axes& axes) {
  std::int64_t count = 1;
  for (const Axis& axis : axes) count *= axis.extent;
  return count;
}

// Halves the axis with the largest reach. Calls `use(axes, step, to_step)` for both halves.
template <class Use>
void halve(const Axes& axes, Use&& use) {
  const auto widest = std::max_element(
      axes.begin(), axes.end(), [](const Axis& a, const Axis& b) { return a.reach() < b.reach(); });
  const auto axis = static_cast<std::size_t>(widest - axes.begin());
  const std::int64_t half = widest->extent / 2;
  Axes part = axes;
  part[axis].extent = half;
  use(part, std::int64_t{0}, std::int64_t{0});
  part[axis].extent = widest->extent - half;
  use(part, half * widest->step, half * widest->to_step);
}

class Gather {
 public:
  Gather(std::size_t element_bytes, const ReadPlaces& read, std::byte* to)
      : bytes_(static_cast<std::int64_t>(element_bytes)), read_(read), to_(to) {}

  // Adds elements of a rectangular part. Its first element is at `place`, and is number `at` of the
  // result.
  void add(const Axes& axes, std::int64_t place, std::int64_t at) {
    const std::int64_t span = span_of(axes);
    if (span * bytes_ > kWindowBytes) {
      return halve(axes, [&](const Axes& part, std::int64_t step, std::int64_t to_step) {
        add(part, place + step, at + to_step);
      });
    }
    window_.resize(static_cast<std::size_t>(span * bytes_));
    fetch(axes, place, window_.data());
    move(axes, 0, window_.data(), to_ + at * bytes_);
  }

 private:
  // Copies the part's elements to their places in the window.
  void fetch(const Axes& axes, std::int64_t place, std::byte* window) {
    const std::int64_t span = span_of(axes);
    if (span * bytes_ <= kCheapGap || span <= 2 * count_of(axes)) {
      return read_({place, span}, window);
    }
    halve(axes, [&](const Axes& part, std::int64_t step, std::int64_t) {
      fetch(part, place + step, window + step * bytes_);
    });
  }

  void move(const Axes& axes, std::size_t depth, const std::byte* from, std::byte* to) const {
    if (depth + 1 < axes.size()) {
      const Axis& axis = axes[depth];
      for (std::int64_t i = 0; i < axis.extent; ++i) {
        move(axes, depth + 1, from + i * axis.step * bytes_, to + i * axis.to_step * bytes_);
      }
      return;
    }
    const Axis row = axes.empty() ? Axis{1, 1, 1} : axes.back();
    if (bytes_ == 1) return move_row<1>(row, from, to);
    if (bytes_ == 2) return move_row<2>(row, from, to);
    if (bytes_ == 4) return move_row<4>(row, from, to);
    move_row<8>(row, from, to);
  }

  template <std::int64_t kBytes>
  static void move_row(const Axis& row, const std::byte* from, std::byte* to) {
    for (std::int64_t i = 0; i < row.extent; ++i) {
      std::memcpy(to + i * row.to_step * kBytes, from + i * row.step * kBytes, kBytes);
    }
  }

  std::int64_t bytes_;
  const ReadPlaces& read_;
  std::byte* to_;
  std::vector<std::byte> window_;
};

}  // namespace

void read_strided(const Dims& shape, const Dims& strides, ElementRange range,
                  std::size_t element_bytes, const ReadPlaces& read, void* to) {
  Gather gather(element_bytes, read, static_cast<std::byte*>(to));
  const Dims dense = row_major_strides(shape);
  hdf5::for_each_box(shape, range, [&](const hdf5::Box& box) {
    Axes axes;
    std::int64_t place = 0;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      place += static_cast<std::int64_t>(box.start[axis]) * strides[axis];
      const auto extent = static_cast<std::int64_t>(box.count[axis]);
      // All inner axes of the box are whole, so the result's steps are those of the shape.
      if (extent > 1) axes.push_back({extent, strides[axis], dense[axis]});
    }
    gather.add(axes, place, box.offset);
  });
}

void PanelReader::read(const DumpEntry& entry, ElementRange range, const ReadPlaces& read,
                       void* to) {
  const std::lock_guard lock(mutex_);
  const auto bytes = static_cast<std::int64_t>(size_of(entry.stored));
  const std::int64_t most = static_cast<std::int64_t>(kPanelBytes) / bytes;
  auto* next = static_cast<std::byte*>(to);
  for (std::int64_t at = range.first, end = range.first + range.count; at < end;) {
    const std::int64_t first = at / most * most;
    const std::int64_t count = std::min(most, entry.desc.elements() - first);
    if (path_ != entry.path || first_ != first) load(entry, first, count, read);
    const std::int64_t taken = std::min(end, first + count) - at;
    std::memcpy(next, panel_.data() + (at - first) * bytes,
                static_cast<std::size_t>(taken * bytes));
    next += taken * bytes;
    at += taken;
  }
}

void PanelReader::load(const DumpEntry& entry, std::int64_t first, std::int64_t count,
                       const ReadPlaces& read) {
  path_.clear();  // valid again when the panel is complete
  const std::size_t bytes = size_of(entry.stored);
  panel_.resize(static_cast<std::size_t>(count) * bytes);
  read_strided(entry.desc.shape, *entry.attributes.stride, {first, count}, bytes, read,
               panel_.data());
  path_ = entry.path;
  first_ = first;
}

}  // namespace opbench
