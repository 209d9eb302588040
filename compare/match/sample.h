#pragma once

#include <cstdint>
#include <vector>

#include "compare/measure/measure_pairs.h"

namespace opbench {

/// Up to 32 values of a tensor of `count` elements: four runs of eight, spread evenly, all of a
/// small one. Empty if it cannot be read.
std::vector<double> sample_values(const PairSide& side, std::int64_t count);

}  // namespace opbench
