#include "tensor/element_walk.h"

#include <algorithm>

namespace opbench {
namespace {

constexpr std::int64_t kPlainLanes = 16;  // a cache line of fp32
constexpr std::int64_t kMostLanes = 1 << 16;

/// A map without phases between axes, with as few axes as possible: extents of 1 are gone, and
/// neighbours that lie behind each other as in row-major order are one.
class Walk {
 public:
  explicit Walk(const std::vector<MapAxis>& axes, std::int64_t start = 0) : start_(start) {
    for (const MapAxis& axis : axes) add(axis);
    if (axes_.empty()) axes_.push_back({});
    sizes_.assign(axes_.size(), 1);
    for (std::size_t i = axes_.size() - 1; i > 0; --i) {
      sizes_[i - 1] = sizes_[i] * axes_[i].extent;
    }
    choose_lanes();
  }

  std::int64_t preferred_range() const {
    const MapAxis& axis = axes_[lane_axis_];
    const bool cut = axis.outer_stride != 0;
    return sizes_[lane_axis_] * std::min(cut ? axis.block : kPlainLanes, axis.extent);
  }

  /// `shift` is added to the logical numbers.
  void visit(ElementRange range, std::int64_t shift,
             const std::function<void(const ElementRectangle&)>& visit) const {
    const std::int64_t row = axes_.back().extent;
    for (std::int64_t done = 0; done < range.count;) {
      const std::int64_t first = range.first + done, left = range.count - done;
      const std::int64_t lanes = whole_lanes(first, left);
      if (lanes == 0) {
        const std::int64_t in_row = first % row, count = std::min(left, row - in_row);
        visit_row({first, count}, 1, shift + done, visit);
        done += count;
        continue;
      }
      for (std::int64_t i = 0; i < sizes_[lane_axis_]; i += row) {
        visit_row({first + i, row}, lanes, shift + done + i, visit);
      }
      done += lanes * sizes_[lane_axis_];
    }
  }

 private:
  void add(MapAxis axis) {
    // Within one block, or where blocks follow each other evenly, nothing is cut.
    if (axis.phase % axis.block + axis.extent <= axis.block ||
        axis.outer_stride == axis.block * axis.inner_stride) {
      start_ += axis.offset(0);
      axis = {.extent = axis.extent, .block = axis.extent, .inner_stride = axis.inner_stride};
    }
    if (axis.extent == 1) return;
    const bool whole = axis.outer_stride == 0;
    if (whole && !axes_.empty() && axes_.back().outer_stride == 0 &&
        axes_.back().inner_stride == axis.extent * axis.inner_stride) {
      axis.extent *= axes_.back().extent;
      axis.block = axis.extent;
      axes_.pop_back();
    }
    axes_.push_back(axis);
  }

  void choose_lanes() {
    lane_axis_ = axes_.size() < 2 ? 0 : axes_.size() - 2;
    if (axes_.back().inner_stride == 1) return;
    for (std::size_t i = 0; i + 1 < axes_.size(); ++i) {
      if (axes_[i].inner_stride == 1) lane_axis_ = i;
    }
  }

  /// Lanes of the largest rectangle that starts at `first`: 0 if a lane is not complete.
  std::int64_t whole_lanes(std::int64_t first, std::int64_t left) const {
    const std::int64_t size = sizes_[lane_axis_];
    if (axes_.size() < 2 || first % size != 0 || left < size) return 0;
    const MapAxis& axis = axes_[lane_axis_];
    const std::int64_t index = first / size % axis.extent;
    return std::min({left / size, axis.extent - index,
                     axis.block - (index + axis.phase) % axis.block, kMostLanes});
  }

  std::int64_t stored(std::int64_t element) const {
    std::int64_t result = start_;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      result += axes_[i].offset(element / sizes_[i] % axes_[i].extent);
    }
    return result;
  }

  /// Part of one row along the last axis, and the same of the lanes after it.
  void visit_row(ElementRange part, std::int64_t lanes, std::int64_t logical,
                 const std::function<void(const ElementRectangle&)>& visit) const {
    const MapAxis& row = axes_.back();
    const std::int64_t begin = part.first % row.extent;
    const std::int64_t start = stored(part.first - begin) - row.offset(0);
    for (std::int64_t i = begin; i < begin + part.count;) {
      const std::int64_t pixels =
          std::min(row.block - (i + row.phase) % row.block, begin + part.count - i);
      visit({.stored = start + row.offset(i),
             .logical = logical + i - begin,
             .lanes = lanes,
             .pixels = pixels,
             .lane_stride = axes_[lane_axis_].inner_stride,
             .pixel_stride = row.inner_stride,
             .logical_stride = sizes_[lane_axis_]});
      i += pixels;
    }
  }

  std::int64_t start_;
  std::vector<MapAxis> axes_;
  std::vector<std::int64_t> sizes_;  ///< logical elements in one step of each axis
  std::size_t lane_axis_ = 0;
};

/// Group `group` of a FRACTAL_Z weight alone.
Walk walk_of_group(const ElementMap& map, std::int64_t group) {
  std::vector<MapAxis> axes = map.axes;
  axes[0] = {
      .extent = map.group_rows, .block = map.group_rows, .inner_stride = map.axes[0].inner_stride};
  axes[1].phase = group % map.together * axes[1].extent;
  return Walk(axes, map.axes[0].offset(group * map.group_rows));
}

}  // namespace

void for_each_rectangle(const ElementMap& map, ElementRange range,
                        const std::function<void(const ElementRectangle&)>& visit) {
  if (range.count == 0) return;
  if (map.together == 1) return Walk(map.axes).visit(range, 0, visit);
  std::int64_t size = map.group_rows;
  for (std::size_t i = 1; i < map.axes.size(); ++i) size *= map.axes[i].extent;
  for (std::int64_t done = 0; done < range.count;) {
    const std::int64_t group = (range.first + done) / size, first = (range.first + done) % size;
    const std::int64_t count = std::min(size - first, range.count - done);
    walk_of_group(map, group).visit({first, count}, done, visit);
    done += count;
  }
}

std::int64_t stored_at(const ElementMap& map, std::int64_t element) {
  std::int64_t stored = 0;
  for_each_rectangle(map, {element, 1},
                     [&](const ElementRectangle& rectangle) { stored = rectangle.stored; });
  return stored;
}

std::int64_t preferred_range(const ElementMap& map) {
  return map.together == 1 ? std::max<std::int64_t>(1, Walk(map.axes).preferred_range()) : 1;
}

}  // namespace opbench
