#pragma once

#include <cstdint>
#include <vector>

#include "judge/measure_pairs.h"

namespace opbench {

/// Up to 32 values of a tensor of `count` elements: four runs of eight, spread evenly, all of a
/// small one. Empty if it cannot be read.
std::vector<double> sample_values(const PairSide& side, std::int64_t count);

/// |a - e| / the larger norm, of samples of one length: 0 for equal ones, about 1.4 for unrelated
/// ones; 2 where a NaN or an Inf is on one side only.
double sample_distance(const std::vector<double>& a, const std::vector<double>& e);

}  // namespace opbench
