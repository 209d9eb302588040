#pragma once

#include "compare/comparison.h"
#include "dump/source/dump_source.h"

namespace opbench {

/// Looks again at the failing tensors of the operators that a reader looks at first, for what makes
/// them depart (TensorResult::causes): the worst ten, the first beyond its tolerance and the first
/// that stands out. Reads their values, some 30 million in all at most, so that only what departs
/// takes time. Values that cannot be read again have no causes.
void find_causes(Comparison& comparison, DumpSource& actual, DumpSource& expected);

}  // namespace opbench
