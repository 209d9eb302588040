#pragma once

#include <span>
#include <string_view>

#include "ops/op.h"

namespace opbench {

/// The view of x in index_axes: [outer, places, inner]. The places are those of the indexed axes.
struct IndexedAxes {
  Dims index, before, extents, behind;  ///< shape of the indices together; extents of x
  std::int64_t outer = 1, inner = 1;

  /// Indices are broadcast. Errors: throws Error that names the operator if they cannot be, or
  /// exceed the axes.
  IndexedAxes(std::string_view op, const Dims& x, std::span<const TensorDesc> indices,
              const Attrs& attrs);

  std::int64_t places() const { return element_count(extents); }
  /// The shape of the selected elements.
  Dims picked() const;
};

}  // namespace opbench
