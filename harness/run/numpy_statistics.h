#pragma once

#include <string>

#include "dump/dump_types.h"

namespace opbench {

/// Largest, smallest and mean value as numpy prints them.
struct NumpyStatistics {
  std::string max, min, mean;
};

/// Of dense elements: sums are made in fp32 of float16 and float32, else in fp64. Of no elements:
/// "nan" all.
NumpyStatistics numpy_statistics(StoredType type, const void* elements, std::int64_t count);

}  // namespace opbench
