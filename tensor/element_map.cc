#include "tensor/element_map.h"

#include <algorithm>
#include <cassert>
#include <string_view>

namespace opbench {
namespace {

MapAxis whole_axis(std::int64_t extent, std::int64_t stride) {
  return {.extent = extent, .block = std::max<std::int64_t>(extent, 1), .inner_stride = stride};
}

ElementMap row_major_map(const Dims& dims) {
  const Dims strides = row_major_strides(dims);
  ElementMap map;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    map.axes.push_back(whole_axis(dims[i], strides[i]));
  }
  return map;
}

/// The axes of `format` as stored, outermost first. N C D H W are whole axes; n is N rounded up to
/// whole fractals; c and 0 are the two parts of C. FRACTAL_NZ cuts its matrices like a weight of N
/// rows.
std::string_view storage_order(Format format) {
  switch (format) {
    case Format::NHWC:
      return "NHWC";
    case Format::HWCN:
      return "HWCN";
    case Format::NDHWC:
      return "NDHWC";
    case Format::NC1HWC0:
      return "NcHW0";
    case Format::NDC1HWC0:
      return "NDcHW0";
    case Format::FRACTAL_Z:
      return "cHWn0";
    case Format::FRACTAL_Z_3D:
      return "DcHWn0";
    default:
      return "cn0";  // FRACTAL_NZ
  }
}

/// The extents of the map's axes and a letter for each; batch axes of FRACTAL_NZ have no letter.
struct Logical {
  Dims dims;
  std::string_view letters;

  explicit Logical(const TensorDesc& desc) : dims(desc.shape) {
    if (desc.format == Format::FRACTAL_NZ) {
      if (dims.size() < 2) dims.resize(2, 1);
      letters = "NC";
    } else if (dims.size() == 5) {
      letters = "NCDHW";
    } else {
      dims = expand_to_nchw(dims);
      letters = "NCHW";
    }
  }
  std::size_t batches() const { return dims.size() - letters.size(); }
  std::size_t axis(char part) const {
    const char letter = part == 'c' || part == '0' ? 'C' : part == 'n' ? 'N' : part;
    return batches() + letters.find(letter);
  }
};

/// Sets the stride of each part of the storage order, innermost first; returns the size of all
/// parts.
std::int64_t set_strides(ElementMap& map, const Logical& logical, std::string_view order,
                         const FractalGroups& packed, int c0) {
  std::int64_t stride = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    const std::size_t index = logical.axis(order[i]);
    MapAxis& axis = map.axes[index];
    if (order[i] == 'c') {
      axis.outer_stride = stride;
      stride *= packed.c1;
      continue;
    }
    axis.inner_stride = stride;
    if (order[i] == '0') {
      axis.block = c0;
      map.cut_axis = static_cast<int>(index);
    }
    stride *= order[i] == '0' ? c0 : order[i] == 'n' ? packed.n1 * kFractalRows : axis.extent;
  }
  for (std::size_t i = logical.batches(); i-- > 0; stride *= map.axes[i].extent) {
    map.axes[i].inner_stride = stride;
  }
  return stride;
}

constexpr std::int64_t kPlainLanes = 16;  // a cache line of fp32
constexpr std::int64_t kMostLanes = 1 << 16;

/// A map without phases between axes, with as few axes as possible: axes of extent 1 are removed,
/// and neighbours that follow each other as in row-major order are merged.
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
    // An axis within one block, or with evenly spaced blocks, needs no cut.
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

  /// Lanes of the largest rectangle that starts at `first`: 0 if a lane is incomplete.
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

  /// Visits a part of one row along the last axis, together with that part of the following lanes.
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

/// Group `group` of a FRACTAL_Z weight, without the others.
Walk walk_of_group(const ElementMap& map, std::int64_t group) {
  std::vector<MapAxis> axes = map.axes;
  axes[0] = {
      .extent = map.group_rows, .block = map.group_rows, .inner_stride = map.axes[0].inner_stride};
  axes[1].phase = group % map.together * axes[1].extent;
  return Walk(axes, map.axes[0].offset(group * map.group_rows));
}

}  // namespace

bool is_row_major(const TensorDesc& desc) {
  return desc.format == desc.origin || desc.format == Format::ND || desc.format == Format::NCHW ||
         desc.format == Format::NCDHW;
}

bool has_padding(const TensorDesc& desc) { return desc.elements() != desc.storage_elements(); }

ElementMap element_map(const TensorDesc& desc) {
  const Dims stored = desc.storage();  // throws if the shape does not fit
  if (is_row_major(desc)) return row_major_map(stored);
  const Logical logical(desc);
  ElementMap map;
  for (const std::int64_t extent : logical.dims) map.axes.push_back(whole_axis(extent, 0));
  const bool grouped = desc.format == Format::FRACTAL_Z && desc.groups > 1;
  const std::int64_t n = map.axes[logical.axis('N')].extent, c = map.axes[logical.axis('C')].extent;
  const FractalGroups packed = is_private(desc.format)
                                   ? fractal_groups(n, c, grouped ? desc.groups : 1, desc.c0)
                                   : FractalGroups{};
  const std::int64_t size = set_strides(map, logical, storage_order(desc.format), packed, desc.c0);
  if (grouped) {
    map.group_rows = std::max<std::int64_t>(n / desc.groups, 1);
    map.together = packed.together;
    map.axes[0].block = map.group_rows * map.together;
    map.axes[0].outer_stride = size;
  }
  return map;
}

std::int64_t offset(const ElementMap& map, std::span<const std::int64_t> indices) {
  assert(indices.size() == map.axes.size());
  std::int64_t result = 0;
  for (std::size_t i = 0; i < map.axes.size(); ++i) {
    MapAxis axis = map.axes[i];
    if (map.together > 1 && i == 1) {
      axis.phase = indices[0] / map.group_rows % map.together * axis.extent;
    }
    result += axis.offset(indices[i]);
  }
  return result;
}

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
