#pragma once

#include "harness/plan/options.h"
#include "harness/run/load_plan.h"
#include "harness/run/run_hooks.h"
#include "harness/run/run_result.h"

namespace opbench {

/// Runs the calls of a dump on their recorded inputs, as `run_plan` runs cases: each is verified,
/// and where a dump is wanted written under its own name and number. Of calls with the same shapes,
/// dtypes and attributes the first is timed, and has the rows; of the others only those have one
/// that did not pass. Stops once the dump cannot be written any more.
RunResult run_loaded(DumpSource& file, const LoadPlan& plan, const RunOptions& options,
                     const RunHooks& hooks);

}  // namespace opbench
