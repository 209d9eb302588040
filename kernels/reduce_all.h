#pragma once

#include "kernels/kernel.h"

namespace opbench {

/// The sum of scale*x over all elements of the only input, divided by `divisor`. Every term is in
/// fp32, sums of 64 lanes are in fp32 within a slab of the storage, and slabs are joined in fp64.
/// The bits do not depend on threads or instruction set.
Launch reduce_all(const Problem& problem, float scale, double divisor);

/// A scalar divided by `divisor` in every element of the output, including its padding.
Launch expand_to_all(const Problem& problem, double divisor);

}  // namespace opbench
