#pragma once

#include "ops/op.h"

namespace opbench {

/// The shape of so many tensors of shape `part`, stacked. Errors: throws Error that names the axis.
Dims stacked_shape(const Dims& part, std::int64_t parts, const Attrs& attrs);

}  // namespace opbench
