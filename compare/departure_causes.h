#pragma once

#include "compare/comparison.h"
#include "dump/dump_source.h"

namespace opbench {

/// Looks again at the failing tensors of the operators that a reader looks at first, for where they
/// are off and what makes them depart (TensorResult::error_map, of 24 tensors at most, and causes):
/// the first that stands out, the first beyond its tolerance, and the worst ten. Looks at some 4
/// million elements in all at most, 2 million of one tensor, so that a pair that fails takes little
/// longer than one that passes: of larger tensors at the beginning, and without a map. Values that
/// cannot be read again have neither.
void look_at_departures(Comparison& comparison, DumpSource& actual, DumpSource& expected);

/// Tells of the first operators that introduce an error which of their numbers and lists of
/// numbers, such as alpha or a stride, are not those of the expected dump: what is not a tensor is
/// not compared by itself. OperatorResult::explanation says so. What cannot be read says nothing.
void explain_by_scalars(Comparison& comparison, DumpSource& actual, DumpSource& expected);

}  // namespace opbench
