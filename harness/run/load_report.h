#pragma once

#include <iosfwd>

#include "harness/run/load_plan.h"

namespace opbench {

/// Which records of the dump are run, with their share of the elements, and which are not, by
/// operator and reason; what of the file could not be read.
void print_coverage(std::ostream& out, const LoadPlan& plan);

/// What would run: each call with its case, its variants, and which of them is dumped.
void print_loaded_cases(std::ostream& out, const LoadPlan& plan);

}  // namespace opbench
