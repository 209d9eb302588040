#pragma once

#include "ops/movement.h"

namespace opbench {

/// Operators that pick rows by an index see x as [batch, outer, extent, row], the index as [batch,
/// count] and the output as [batch, outer, count, row].
struct GatherView {
  std::int64_t batch = 1, outer = 1, extent = 1, count = 1, row = 1;
  bool negative_allowed = false;  ///< -extent..-1 count from the back
  bool zeros_outside = false;     ///< any other index: a row of zeros; else there is none such

  /// `index` from the front; -1: its row is zeros.
  std::int64_t row_of(std::int64_t index) const {
    if (negative_allowed && index < 0) index += extent;
    return index >= 0 && index < extent ? index : -1;
  }
};

GatherView index_select_view(const Dims& x, const Dims& index, const Attrs& attrs);
GatherView gather_view(const Dims& x, const Dims& indices, const Attrs& attrs);
GatherView embedding_view(const Dims& weight, const Dims& indices);
/// Of a use of index_select, gather or embedding.
GatherView gather_view(const Problem& problem);

/// inputs[0] gathered by inputs[1].
ExactReference gathered(std::span<const InputReader> inputs, const GatherView& view);

/// At most as many rows of x are read as are written.
Traffic gather_traffic(const Problem& problem);

}  // namespace opbench
