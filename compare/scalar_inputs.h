#pragma once

#include "compare/comparison.h"
#include "dump/dump_source.h"

namespace opbench {

/// Tells of the first operators that introduce an error which of their numbers and lists of
/// numbers, such as alpha or a stride, are not those of the expected dump: what is not a tensor is
/// not compared by itself. OperatorResult::explanation says so. What cannot be read says nothing.
void explain_by_scalars(Comparison& comparison, DumpSource& actual, DumpSource& expected);

}  // namespace opbench
