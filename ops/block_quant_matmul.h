#pragma once

#include <cstdint>
#include <span>

#include "ops/matmul.h"

namespace opbench {

/// A product of quantised factors with a scale for each block of terms.
struct BlockQuantMatMul {
  enum Input : std::size_t { x1, x2, scale, token_scale, bias };

  MatMulShape shape;
  std::int64_t rows, columns, terms;  ///< of a block: elements with one scale
  std::int64_t blocks;                ///< blocks along k
  bool left_has_pairs, right_has_pairs;

  /// For a use of block_quant_matmul.
  BlockQuantMatMul(std::span<const TensorDesc> inputs, const Attrs& attrs);

  Dims left_shape() const;   ///< of the scales of x1
  Dims right_shape() const;  ///< of the scales of x2
  /// Places of scales in their tensors.
  std::int64_t left_place(std::int64_t row, std::int64_t block) const;
  std::int64_t right_place(std::int64_t block, std::int64_t column) const;
};

}  // namespace opbench
