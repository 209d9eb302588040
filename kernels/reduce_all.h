#pragma once

#include "kernels/kernel.h"

namespace opbench {

/// The sum of scale*x over all elements of the only input, over `divisor`: every term in fp32, sums
/// of 64 lanes in fp32 within a slab of the storage, slabs joined in fp64. The bits do not depend
/// on threads or instruction set.
Launch reduce_all(const Problem& problem, float scale, double divisor);

/// A scalar over `divisor` in every element of the output, in its padding too.
Launch expand_to_all(const Problem& problem, double divisor);

}  // namespace opbench
