#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "ops/attrs.h"
#include "tensor/shape.h"

namespace opbench {

/// Elements of `dynamic_quant` with one scale: `count` groups of `extent` elements, `stride` apart.
struct QuantGroups {
  std::int64_t count, extent, stride;
  Dims scale_shape;

  std::int64_t first(std::int64_t group) const {
    return group / stride * extent * stride + group % stride;
  }
  /// Calls `body` with the place of each element of a group.
  template <class Body>
  void for_each(std::int64_t group, Body body) const {
    for (std::int64_t i = 0; i < extent; ++i) {
      body(static_cast<std::size_t>(first(group) + i * stride));
    }
  }
};

/// The groups of a tensor by attribute `quant_mode`. Errors: throws Error for too few axes.
QuantGroups quant_groups(const Dims& shape, const Attrs& attrs);

/// A block of the last two axes: rows `columns` elements apart.
struct QuantBlock {
  std::int64_t first, rows, width, columns;

  template <class Body>
  void for_each(Body body) const {
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < width; ++c)
        body(static_cast<std::size_t>(first + r * columns + c));
    }
  }
};

/// Calls `body` with each block of `dynamic_block_quant`, in the order of the scales.
template <class Body>
void for_each_block(const Dims& shape, const Attrs& attrs, Body body) {
  const std::int64_t rows = shape[shape.size() - 2], columns = shape.back();
  const std::int64_t height = attrs.integer("row_block_size"),
                     width = attrs.integer("col_block_size");
  for (std::int64_t matrix = 0; matrix < element_count(shape); matrix += rows * columns) {
    for (std::int64_t r = 0; r < rows; r += height) {
      for (std::int64_t c = 0; c < columns; c += width) {
        body(QuantBlock{matrix + r * columns + c, std::min(height, rows - r),
                        std::min(width, columns - c), columns});
      }
    }
  }
}

}  // namespace opbench
