#pragma once

#include "ops/op.h"

namespace opbench {

/// Outputs of layer_norm.
enum LayerNormOutput : std::size_t { kNormalised, kMean, kRstd };

/// The view of a tensor in layer_norm and its gradient: `rows` of `count` elements, each normalised
/// by itself.
struct NormRows {
  std::int64_t rows, count;
  Dims normalised;  ///< the extents of a row
  Dims statistics;  ///< the shape of the means: 1 in place of the extents of a row
};

/// The view for attribute `normalized_shape`; [] is the last axis. Errors: throws Error that names
/// the operator, the input, its shape and what is allowed.
NormRows norm_rows(std::string_view op, std::string_view input, const Dims& shape,
                   const Attrs& attrs);

}  // namespace opbench
