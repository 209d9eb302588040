#include "kernels/trans_data_maps.h"

#include <algorithm>

namespace opbench {
namespace {

Dims extents_of(const ElementMap& map) {
  Dims extents;
  for (const MapAxis& axis : map.axes) extents.push_back(axis.extent);
  return extents;
}

// The map of elements stored in their order, with the axes of another.
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

// Expansion adds extents of 1 only; where one side has one and the other has not, it gets one. A
// map with groups never comes here: it has four axes, as the other.
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

}  // namespace opbench
