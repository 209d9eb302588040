#pragma once

#include "tensor/dtype.h"

namespace opbench {

/// The largest finite value of a floating dtype; 0 for others.
double largest_finite(DType dtype);

}  // namespace opbench
