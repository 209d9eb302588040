#pragma once

#include "profiles/profiled_case.h"

namespace opbench {

/// Sets the logical shapes of an operator's tensors, also those that only the operator tells: the
/// weight of a convolution by what it is applied to, vectors of a batch norm as [C].
void resolve(ProfiledOperator& one, const LogicalShapes& shapes);

}  // namespace opbench
