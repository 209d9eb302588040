#pragma once

#include <cstdint>
#include <span>

#include "ops/op.h"

namespace opbench {

/// The extents of a use of moe_finalize_routing_v2, and the order of its inputs.
struct FinalizedRouting {
  enum Input : std::size_t { expanded, places, x1, x2, bias, scales, experts };

  std::int64_t tokens, k, columns;
  std::int64_t rows;  ///< of expanded_x
  bool is_by_column;  ///< the first copies of all tokens, then the second ones

  FinalizedRouting(std::span<const TensorDesc> inputs, const Attrs& attrs);

  /// The place of the row of copy `j` in expanded_row_idx.
  std::int64_t place_of(std::int64_t token, std::int64_t j) const {
    return is_by_column ? j * tokens + token : token * k + j;
  }
  /// False for a dropped copy.
  bool is_row(std::int64_t row) const { return row >= 0 && row < rows; }
};

/// For a use of moe_finalize_routing_v2_grad: expanded_x, grad_y, expanded_row_idx, scales, bias,
/// expert_idx.
FinalizedRouting finalized_routing_of_grad(std::span<const TensorDesc> inputs, const Attrs& attrs);

/// drop_pad_mode, 0 to 3.
AttrSpec drop_pad_mode_attr();

}  // namespace opbench
