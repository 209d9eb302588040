#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ops/op.h"

namespace opbench {

/// The view of a tensor [N, C, ...] in group_norm and its gradient: contiguous rows of `count`
/// elements, one row for each group of each image.
struct NormGroups {
  std::int64_t images = 0, channels = 0, inner = 0, groups;

  /// The view for attribute `groups`. Errors: throws Error that names the operator, the input, its
  /// shape and what is allowed.
  NormGroups(std::string_view op, std::string_view input, const Dims& shape, const Attrs& attrs);

  std::int64_t rows() const { return images * groups; }
  std::int64_t count() const { return channels / groups * inner; }
  /// The channel of element `i` of a row.
  std::size_t channel(std::size_t row, std::size_t i) const {
    const auto in_image = static_cast<std::size_t>(groups),
               each = static_cast<std::size_t>(channels) / in_image;
    return row % in_image * each + i / static_cast<std::size_t>(inner);
  }
};

}  // namespace opbench
