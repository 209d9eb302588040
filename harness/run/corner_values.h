#pragma once

#include <cstdint>

#include "harness/run/workspace.h"

namespace opbench {

/// Mixes corner values into the inputs of a case, which are loaded with `seed`: those that its
/// kernels take, and none so large that it would drown the others where the graph adds elements up.
/// Raises the seed of a backward pass from a mean to the number of elements, so that gradients are
/// of the order of 1. May be called again for another variant.
void add_corner_values(const Workspace& workspace, const Runnable& runnable, std::uint64_t seed);

/// Undoes `add_corner_values`.
void remove_corner_values(const Workspace& workspace, const Runnable& runnable, std::uint64_t seed);

}  // namespace opbench
