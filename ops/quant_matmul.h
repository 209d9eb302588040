#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ops/matmul.h"

namespace opbench {

/// The product of a use of quant_batch_matmul_v3.
MatMulShape quant_matmul_shape(std::span<const TensorDesc> inputs, const Attrs& attrs);

/// The product of a use of weight_quant_batch_matmul_v2, with all rows of x in one matrix.
MatMulShape weight_quant_shape(std::span<const TensorDesc> inputs, const Attrs& attrs);

/// Scales and offsets of the weight's elements: of the tensor, of channels or of groups of rows.
class AntiQuant {
 public:
  AntiQuant(std::vector<double> offset, std::vector<double> scale, const MatMulShape& shape,
            const Attrs& attrs);

  /// The place of the numbers of an element of the weight as stored.
  std::size_t place(std::size_t element) const;
  double offset_at(std::size_t place) const { return offset_[offset_.size() == 1 ? 0 : place]; }
  double scale_at(std::size_t place) const { return scale_[scale_.size() == 1 ? 0 : place]; }

 private:
  std::vector<double> offset_, scale_;
  MatMulShape shape_;
  std::int64_t group_;
};

}  // namespace opbench
