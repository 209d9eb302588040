#pragma once

#include "ops/op.h"

namespace opbench {

/// The order of axes that attribute `perm` states for a tensor of this rank; empty: reversed.
/// Errors: throws Error unless it is a permutation of the axes.
Dims transpose_perm(const Dims& shape, const Attrs& attrs);

}  // namespace opbench
