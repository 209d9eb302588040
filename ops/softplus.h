#pragma once

#include <vector>

#include "ops/op.h"

namespace opbench {

/// beta and threshold, shared by softplus and its gradient.
std::vector<AttrSpec> softplus_attrs();

/// Around threshold/beta (the strict `>` decides there), around the logarithms of the dtype's
/// maximum and minimum (exp overflows and underflows there), and where 1 + exp(x) loses exp(x).
std::vector<double> softplus_corner_points(const Attrs& attrs, DType dtype);

}  // namespace opbench
