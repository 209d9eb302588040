#pragma once

#include <span>
#include <string>

#include "dump/dump_types.h"

namespace opbench {

/// Largest, smallest and mean value as numpy computes and prints them.
struct NumpyStatistics {
  std::string max, min, mean;
};

/// Of dense elements: sums of floats are made pairwise in fp32, or fp64 for float64 and integers,
/// those of float16 in pieces of 8192, as numpy 1.24 does. Of no elements: "nan" all.
NumpyStatistics numpy_statistics(StoredType type, const void* elements, std::int64_t count);

/// numpy's pairwise sum of one piece.
float pairwise_sum(std::span<const float> values);
double pairwise_sum(std::span<const double> values);

}  // namespace opbench
