#pragma once

#include "ops/attrs.h"

namespace opbench {

/// What becomes of the losses of a cross entropy's rows.
enum class Reduction { mean, sum, none };

/// Of a use of cross_entropy or its gradient.
Reduction reduction_of(const Attrs& attrs);

}  // namespace opbench
