#pragma once

#include "kernels/kernel.h"

namespace opbench {

/// Converts `count` elements from one dtype's memory to another's.
using CastLoop = void (*)(const void* from, void* to, std::size_t count);

/// The plain loop for a pair: every element by itself.
CastLoop cast_loop(DType from, DType to);

/// A launch that does what the plain loop does, vectorised where that is faster.
Launch vectorised_cast(const Problem& problem);

/// A launch that gives every thread its part of a conversion.
Launch cast_launch(const Problem& problem,
                   std::function<void(const void* from, void* to, std::size_t count)> convert);

}  // namespace opbench
