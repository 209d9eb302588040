#pragma once

#include "ops/movement.h"

namespace opbench {

/// The common view of operators that select rows by an index: x is [batch, outer, extent, row], the
/// index [batch, count] and the output [batch, outer, count, row].
struct GatherView {
  std::int64_t batch = 1, outer = 1, extent = 1, count = 1, row = 1;
  bool negative_allowed = false;  ///< -extent..-1 count from the back
  bool zeros_outside = false;     ///< an index outside the axis gives a row of zeros; otherwise
                                  ///< such an index is not allowed

  /// The row of `index`, counted from the front; -1: a row of zeros.
  std::int64_t row_of(std::int64_t index) const {
    if (negative_allowed && index < 0) index += extent;
    return index >= 0 && index < extent ? index : -1;
  }
};

GatherView index_select_view(const Dims& x, const Dims& index, const Attrs& attrs);
GatherView gather_view(const Dims& x, const Dims& indices, const Attrs& attrs);
GatherView embedding_view(const Dims& weight, const Dims& indices);
/// The view of a use of index_select, gather or embedding.
GatherView gather_view(const Problem& problem);

/// inputs[0] gathered by inputs[1].
ExactReference gathered(std::span<const InputReader> inputs, const GatherView& view);

/// The rows read of x are at most as many as the rows written.
Traffic gather_traffic(const Problem& problem);

}  // namespace opbench
