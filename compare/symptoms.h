#pragma once

#include "compare/comparison.h"
#include "dump/dump_source.h"

namespace opbench {

/// Examines the failing tensors of the first operator beyond its tolerance and of the worst ten, to
/// find the places and symptoms of their errors (TensorResult::causes, and error_map for at most 24
/// tensors). Skips tensors that `explain` has described. Reads at most about 4 million elements in
/// all and 2 million of a tensor, so a failing pair takes little longer than a passing pair. Of a
/// larger tensor it reads the beginning and makes no map. Values that cannot be read again get
/// neither.
void look_for_symptoms(Comparison& comparison, DumpSource& actual, DumpSource& expected);

}  // namespace opbench
