#pragma once

#include <vector>

#include "harness/plan/context_plan.h"
#include "harness/plan/options.h"
#include "harness/plan/plan.h"
#include "harness/run/run_hooks.h"
#include "harness/run/run_result.h"

namespace opbench {

/// Adds the records of a case that is complete to a result, and tells of them. `bytes`: what its
/// tensors take.
void add_records(std::vector<Record> records, std::size_t bytes, const RunHooks& hooks,
                 RunResult& result);

/// Runs a plan: for each case allocate, fill, verify every variant, time every variant that is
/// right, verify again on fresh data. One bad case never stops the run; an interrupt keeps what is
/// complete.
/// Contexts come after the cases.
RunResult run_plan(const std::vector<PlannedCase>& plan,
                   const std::vector<PlannedContext>& contexts, const RunOptions& options,
                   const RunHooks& hooks);

}  // namespace opbench
