#pragma once

#include <cstdint>
#include <vector>

#include "ops/reduction.h"

namespace opbench {

/// Neighbouring axes of one kind, merged.
struct AxisGroup {
  std::int64_t extent, stride;
};

/// A tensor under reduction: contiguous rows of `width` elements, which are summed
/// (`row_is_reduced`) or kept. Rows are numbered by (kept, reduced) groups outside them.
struct ReduceView {
  std::vector<AxisGroup> kept, reduced;
  std::int64_t width = 1, kept_rows = 1, reduced_rows = 1;
  bool row_is_reduced = true;

  ReduceView(const Dims& shape, const std::vector<bool>& is_reduced) {
    const Dims strides = row_major_strides(shape);
    bool has_row = false, in_row = true, last = false;
    for (std::size_t i = shape.size(); i-- > 0;) {
      if (shape[i] == 1) continue;
      const bool reduces = is_reduced[i];
      if (!has_row || (reduces == last && in_row)) {
        width *= shape[i];
        row_is_reduced = reduces;
        has_row = true;
      } else {
        in_row = false;
        add(reduces ? reduced : kept, {shape[i], strides[i]}, reduces == last);
        (reduces ? reduced_rows : kept_rows) *= shape[i];
      }
      last = reduces;
    }
  }

  /// The start of row `i` of one kind.
  static std::int64_t offset(const std::vector<AxisGroup>& groups, std::int64_t i) {
    std::int64_t offset = 0;
    for (const AxisGroup& group : groups) {
      offset += i % group.extent * group.stride;
      i /= group.extent;
    }
    return offset;
  }

 private:
  // Adds an axis; the innermost group comes first.
  static void add(std::vector<AxisGroup>& groups, AxisGroup axis, bool continues) {
    if (continues && !groups.empty()) {
      groups.back().extent *= axis.extent;
    } else {
      groups.push_back(axis);
    }
  }
};

}  // namespace opbench
