#pragma once

#include "tensor/dtype.h"

namespace opbench {

/// The largest finite value of a floating dtype; 0 for others.
double largest_finite(DType dtype);

/// The smallest positive number of a floating dtype that is no subnormal; 0 for others.
double smallest_normal(DType dtype);

}  // namespace opbench
