#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ops/op.h"

namespace opbench {

/// The place of x that each place of y copies along the axis of repeat_interleave, and likewise for
/// its gradient. `places`: the extent of x. Input 1, if it is given, has the number of copies.
std::vector<std::int64_t> repeated_places(std::span<const InputReader> inputs, const Attrs& attrs,
                                          std::int64_t places);

}  // namespace opbench
