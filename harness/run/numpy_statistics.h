#pragma once

#include <string>

#include "dump/dump_types.h"

namespace opbench {

/// Largest, smallest and mean value in numpy's text form.
struct NumpyStatistics {
  std::string max, min, mean;
};

/// Statistics of dense elements. Sums of float16 and float32 are computed in fp32, others in fp64.
/// Without elements all are "nan".
NumpyStatistics numpy_statistics(StoredType type, const void* elements, std::int64_t count);

}  // namespace opbench
