#pragma once

#include <vector>

#include "harness/plan/context_plan.h"
#include "harness/record/run_result.h"
#include "harness/run/run_hooks.h"

namespace opbench {

/// Runs the steps of a context with one number of threads: verifies each, then times them in
/// rounds, one sample of every step in each, so that what disturbs the machine meets all of them,
/// and verifies them again on fresh values.
/// Adds its phases to `times`. One record a step; a step that fails keeps its reason and no time.
std::vector<Record> run_context(const PlannedContext& planned, const RunOptions& options,
                                int threads, const RunHooks& hooks, PhaseTimes& times);

}  // namespace opbench
