#pragma once

#include "compare/comparison.h"
#include "dump/dump_source.h"

namespace opbench {

/// Looks again at the failing tensors of the operators that a reader looks at first, for where they
/// are off and what that looks like (TensorResult::error_map, of 24 tensors at most, and causes):
/// the first beyond its tolerance, and the worst ten; those that `explain` has described are left
/// out. Looks at some 4 million elements in all at most, 2 million of one tensor, so that a pair
/// that fails takes little longer than one that passes: of larger tensors at the beginning, and
/// without a map. Values that cannot be read again have neither.
void look_for_symptoms(Comparison& comparison, DumpSource& actual, DumpSource& expected);

}  // namespace opbench
