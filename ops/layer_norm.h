#pragma once

#include "ops/op.h"

namespace opbench {

/// Outputs of layer_norm.
enum LayerNormOutput : std::size_t { kNormalised, kMean, kRstd };

/// What layer_norm and its gradient see of a tensor: `rows` of `count` elements, each normalised by
/// itself.
struct NormRows {
  std::int64_t rows, count;
  Dims normalised;  ///< the extents of a row
  Dims statistics;  ///< the shape of the means: 1 in place of the extents of a row
};

/// Of a tensor under attribute `normalized_shape`; [] is the last axis. Errors: throws Error that
/// names the operator, the input, its shape and what is allowed.
NormRows norm_rows(std::string_view op, std::string_view input, const Dims& shape,
                   const Attrs& attrs);

}  // namespace opbench
