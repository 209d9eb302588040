#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ops/rope.h"

namespace opbench {

/// A use of mrope: inputs positions [tokens] or [axes, tokens], query and key [tokens,
/// heads*width], and a table of rows of cosines followed by sines, `extent` elements together.
struct RotaryTable {
  RotaryMode mode;
  std::int64_t axes, tokens;
  std::int64_t width;                      ///< elements of a head
  std::int64_t extent;                     ///< its first elements, which are rotated
  std::vector<std::int64_t> axis_of_pair;  ///< the axis of the positions

  /// Errors: throws Error that names the input or attribute and what is allowed.
  RotaryTable(std::span<const TensorDesc> inputs, const Attrs& attrs);

  std::int64_t heads(const Dims& x) const { return width == 0 ? 0 : x[1] / width; }
  /// The pair that element `i` of a head belongs to.
  std::int64_t pair_of(std::int64_t i) const {
    return mode == RotaryMode::half ? i % (extent / 2) : i / 2;
  }
};

}  // namespace opbench
