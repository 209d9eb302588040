#pragma once

#include "compare/comparison.h"
#include "dump/source/dump_source.h"

namespace opbench {

/// Looks again at the failing tensors of the operators that a reader looks at first, for where they
/// are off and what makes them depart (TensorResult::error_map, of 24 tensors at most, and causes):
/// the worst ten, the first beyond its tolerance and the first that stands out. Reads their values,
/// some 30 million in all at most, so that only what departs takes time. Values that cannot be read
/// again have neither.
void look_at_departures(Comparison& comparison, DumpSource& actual, DumpSource& expected);

}  // namespace opbench
