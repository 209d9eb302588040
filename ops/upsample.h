#pragma once

#include <vector>

#include "ops/op.h"

namespace opbench {

/// Which place of the plane every row and column of the greater one is a copy of.
struct NearestPlaces {
  std::int64_t planes, h, w;
  std::vector<std::int64_t> rows, columns;
};

/// Of a use of upsample_nearest2d, and of its gradient, where `dy` is the greater one.
NearestPlaces nearest_places(const TensorDesc& x, const Attrs& attrs);
NearestPlaces nearest_grad_places(const TensorDesc& dy, const Attrs& attrs);

}  // namespace opbench
