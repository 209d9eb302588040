#pragma once

#include <span>
#include <string_view>

#include "ops/op.h"

namespace opbench {

/// x as index_axes sees it: [outer, places, inner], the places being those of the axes that have an
/// index.
struct IndexedAxes {
  Dims index, before, extents, behind;  ///< shape of the indices; extents of x
  std::int64_t outer = 1, inner = 1;

  /// Errors: throws Error that names the operator unless the indices are alike and there is an axis
  /// for each.
  IndexedAxes(std::string_view op, const Dims& x, std::span<const TensorDesc> indices,
              const Attrs& attrs);

  std::int64_t places() const { return element_count(extents); }
  /// The shape of what they name.
  Dims picked() const;
};

}  // namespace opbench
