#pragma once

#include <vector>

#include "profiles/profiled_case.h"

namespace opbench {

/// What an operator on lists of tensors, such as ForeachAddList, computes: the same for each tensor
/// of a list, in their order; and the two gradients of a convolution that are computed in one call.
/// Another operator is its own only part. Empty where its outputs do not
/// say how long the lists are.
std::vector<ProfiledOperator> parts_of(const ProfiledOperator& one);

}  // namespace opbench
