#pragma once

#include <cstdint>

#include "ops/layer_norm.h"

namespace opbench {

inline constexpr std::int64_t kNormColumns = 256;  ///< columns that are added side by side

/// A row of layer_norm; weight and bias may be null.
struct LayerNormRow {
  const void *x, *weight, *bias;
  float eps;
  void *y;
  float *mean, *rstd;
};

/// The tensors of the gradient, [rows, count]; weight, dweight and dbias may be null.
struct LayerNormGrad {
  std::int64_t rows, count;
  const void *dy, *x, *weight;
  const float *mean, *rstd;
  void *dx, *dweight, *dbias;
};

}  // namespace opbench
