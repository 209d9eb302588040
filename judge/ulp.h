#pragma once

#include <cstdint>

#include "tensor/dtype.h"

namespace opbench {

/// Distance of two values of a floating dtype in units in the last place: how many representable
/// numbers lie from one to the other; 0 for +0 and -0. For integer dtypes the absolute difference.
/// Both must be values of `dtype`, not NaN.
double ulp_distance(DType dtype, double a, double b);

/// Distance of 1 to the next number of a floating dtype; 0 for integers and bool.
double epsilon_of(DType dtype);

}  // namespace opbench
