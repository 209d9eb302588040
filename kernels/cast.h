#pragma once

#include "kernels/kernel.h"

namespace opbench {

/// Converts `count` elements in memory from one dtype to another.
using CastLoop = void (*)(const void* from, void* to, std::size_t count);

/// The plain loop for a pair of dtypes, one element at a time.
CastLoop cast_loop(DType from, DType to);

/// A launch with the results of the plain loop, vectorised for the pairs where that is faster.
Launch vectorised_cast(const Problem& problem);

/// A launch that divides a conversion among the threads.
Launch cast_launch(const Problem& problem,
                   std::function<void(const void* from, void* to, std::size_t count)> convert);

}  // namespace opbench
