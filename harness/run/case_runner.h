#pragma once

#include <vector>

#include "harness/record/run_result.h"
#include "harness/run/run_hooks.h"

namespace opbench {

/// Runs one case with one number of threads; adds its phases to `times`. Never throws for what a
/// kernel does.
std::vector<Record> run_case(const PlannedCase& planned, const RunOptions& options, int threads,
                             const RunHooks& hooks, PhaseTimes& times);

}  // namespace opbench
