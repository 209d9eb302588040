#include "kernels/trans_data_plan.h"

#include <algorithm>

namespace opbench {
namespace {

Dims extents_of(const ElementMap& map) {
  Dims extents;
  for (const MapAxis& axis : map.axes) extents.push_back(axis.extent);
  return extents;
}

// The map of elements stored in logical order, with the axes of `other`.
ElementMap row_major_like(const ElementMap& other) {
  const Dims extents = extents_of(other);
  const Dims strides = row_major_strides(extents);
  ElementMap map;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    map.axes.push_back({.extent = extents[i],
                        .block = std::max<std::int64_t>(extents[i], 1),
                        .inner_stride = strides[i]});
  }
  return map;
}

// Expansion only adds extents of 1. An axis of extent 1 that one side lacks is added. A map with
// groups never needs it: it has four axes like the other map.
void add_missing_units(ElementMap& a, ElementMap& b) {
  for (std::size_t i = 0; i < std::max(a.axes.size(), b.axes.size()); ++i) {
    const bool is_same =
        i < a.axes.size() && i < b.axes.size() && a.axes[i].extent == b.axes[i].extent;
    if (is_same) continue;
    const bool has_a = i < a.axes.size() && a.axes[i].extent == 1;
    ElementMap& lacking = has_a ? b : a;
    lacking.axes.insert(lacking.axes.begin() + static_cast<std::ptrdiff_t>(i), MapAxis{});
  }
}

/// A part of one logical axis as loops, with its start on both sides.
struct AxisPart {
  std::int64_t from_offset = 0, to_offset = 0;
  std::vector<StridedLoop> loops;
};

bool is_cut(const MapAxis& axis) { return axis.outer_stride != 0; }

std::int64_t lane(const MapAxis& axis, std::int64_t index) {
  return (index + axis.phase) % axis.block;
}

// The number of indices from `first` to the end of a block on either side.
std::int64_t run_length(const MapAxis& from, const MapAxis& to, std::int64_t first) {
  std::int64_t count = from.extent - first;
  for (const MapAxis* axis : {&from, &to}) {
    if (is_cut(*axis)) count = std::min(count, axis->block - lane(*axis, first));
  }
  return count;
}

/// An axis in the storage of both sides. `pads`: lanes of the output's last block without a channel
/// are padding; between groups they are not.
struct AxisPair {
  MapAxis from, to;
  bool pads = true;

  // A part within one block.
  AxisPart run(std::int64_t first, std::int64_t count) const {
    StridedLoop loop{count, from.inner_stride, to.inner_stride, count, count};
    if (is_cut(from) && from.inner_stride == 1) loop.readable = from.block - lane(from, first);
    if (pads && is_cut(to) && to.inner_stride == 1 && first + count == to.extent) {
      loop.extent = to.block - lane(to, first);
    }
    return {from.offset(first), to.offset(first), {loop}};
  }

  AxisPart blocks(std::int64_t first, std::int64_t count, std::int64_t block) const {
    const auto stride = [&](const MapAxis& axis) {
      return is_cut(axis) ? axis.outer_stride : block * axis.inner_stride;
    };
    return {from.offset(first),
            to.offset(first),
            {{count, stride(from), stride(to), count, count},
             {block, from.inner_stride, to.inner_stride, block, block}}};
  }

  // The number of whole blocks from `first` on that both sides cut alike.
  std::int64_t whole_blocks(std::int64_t first, std::int64_t block) const {
    for (const MapAxis* axis : {&from, &to}) {
      if (is_cut(*axis) && (axis->block != block || lane(*axis, first) != 0)) return 0;
    }
    return (from.extent - first) / block;
  }
};

std::vector<AxisPart> parts_of(const AxisPair& axis) {
  if (!is_cut(axis.from) && !is_cut(axis.to)) return {axis.run(0, axis.from.extent)};
  const std::int64_t block = is_cut(axis.to) ? axis.to.block : axis.from.block;
  std::vector<AxisPart> parts;
  for (std::int64_t i = 0; i < axis.from.extent;) {
    const std::int64_t blocks = axis.whole_blocks(i, block);
    const std::int64_t count = blocks > 0 ? blocks * block : run_length(axis.from, axis.to, i);
    parts.push_back(blocks > 0 ? axis.blocks(i, blocks, block) : axis.run(i, count));
    i += count;
  }
  return parts;
}

// Every combination of parts, one for each axis, is a copy.
std::vector<StridedNest> combine(int bytes, const std::vector<std::vector<AxisPart>>& axes) {
  std::vector<StridedNest> nests(1);
  nests.front().element_bytes = bytes;
  for (const std::vector<AxisPart>& parts : axes) {
    std::vector<StridedNest> longer;
    for (const StridedNest& nest : nests) {
      for (const AxisPart& part : parts) {
        longer.push_back(nest);
        longer.back().from_offset += part.from_offset;
        longer.back().to_offset += part.to_offset;
        longer.back().loops.insert(longer.back().loops.end(), part.loops.begin(), part.loops.end());
      }
    }
    nests = std::move(longer);
  }
  return nests;
}

/// The rows of all groups at place `place` within their shared blocks.
AxisPart rows_of_place(const MapPair& maps, std::int64_t place) {
  const bool is_from = maps.from.together > 1;
  const ElementMap& grouped = is_from ? maps.from : maps.to;
  const std::int64_t rows = grouped.group_rows, together = grouped.together;
  const std::int64_t groups = grouped.axes[0].extent / rows;
  const std::int64_t blocks = (groups - place + together - 1) / together;
  const auto stride = [&](const MapAxis& axis) {
    return &axis == &grouped.axes[0] ? axis.outer_stride : together * rows * axis.inner_stride;
  };
  const MapAxis &from = maps.from.axes[0], &to = maps.to.axes[0];
  return {place * rows * from.inner_stride,
          place * rows * to.inner_stride,
          {{blocks, stride(from), stride(to), blocks, blocks},
           {rows, from.inner_stride, to.inner_stride, rows, rows}}};
}

// Groups at the same place in their blocks have their channels in the same lanes.
std::vector<StridedNest> copies_by_place(int bytes, MapPair maps) {
  std::vector<StridedNest> nests;
  ElementMap& grouped = maps.from.together > 1 ? maps.from : maps.to;
  for (std::int64_t place = 0; place < grouped.together; ++place) {
    if (place * grouped.group_rows >= grouped.axes[0].extent) break;
    grouped.axes[1].phase = place * grouped.axes[1].extent;
    std::vector<std::vector<AxisPart>> axes = {{rows_of_place(maps, place)}};
    for (std::size_t i = 1; i < maps.from.axes.size(); ++i) {
      axes.push_back(parts_of({maps.from.axes[i], maps.to.axes[i], false}));
    }
    for (StridedNest& nest : combine(bytes, axes)) nests.push_back(std::move(nest));
  }
  return nests;
}

std::vector<StridedNest> copies(int bytes, const MapPair& maps) {
  std::vector<std::vector<AxisPart>> axes;
  for (std::size_t i = 0; i < maps.from.axes.size(); ++i) {
    axes.push_back(parts_of({maps.from.axes[i], maps.to.axes[i]}));
  }
  return combine(bytes, axes);
}

// Rows of a tensor with a format that rounds them up to whole fractals; 0 for other formats.
std::int64_t fractal_rows(const TensorDesc& desc) {
  switch (desc.format) {
    case Format::FRACTAL_Z:
      return expand_to_nchw(desc.shape)[0];
    case Format::FRACTAL_Z_3D:
      return desc.shape[0];
    case Format::FRACTAL_NZ:
      return desc.shape.size() < 2 ? desc.shape[0] : desc.shape[desc.shape.size() - 2];
    default:
      return 0;
  }
}

PaddingGap gap_of(const TensorDesc& to, bool is_packed) {
  const std::int64_t rows = fractal_rows(to);
  if (rows == 0 || !has_padding(to)) return {};
  const std::int64_t stored = to.storage_elements();
  if (is_packed) return {1, stored, 0, stored};
  const Dims dims = to.storage();  // ..., n1, 16, c0
  const std::int64_t chunk = dims[dims.size() - 3] * kFractalRows * to.c0, used = rows * to.c0;
  return used == chunk ? PaddingGap{} : PaddingGap{stored / chunk, chunk, used, chunk - used};
}

}  // namespace

MapPair matched_maps(const TensorDesc& from, const TensorDesc& to) {
  MapPair maps{element_map(from), element_map(to)};
  if (is_row_major(from)) {
    maps.from = row_major_like(maps.to);
  } else if (is_row_major(to)) {
    maps.to = row_major_like(maps.from);
  } else if (extents_of(maps.from) != extents_of(maps.to)) {
    add_missing_units(maps.from, maps.to);
  }
  return maps;
}

TransDataPlan plan_trans_data(const TensorDesc& from, const TensorDesc& to) {
  if (from.elements() == 0) return {};
  const auto bytes = static_cast<int>(size_of(from.dtype));
  const MapPair maps = matched_maps(from, to);
  const bool is_packed = maps.from.together > 1 || maps.to.together > 1;
  return {gap_of(to, is_packed), is_packed ? copies_by_place(bytes, maps) : copies(bytes, maps)};
}

}  // namespace opbench
