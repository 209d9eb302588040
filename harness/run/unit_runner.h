#pragma once

#include <vector>

#include "harness/plan/options.h"
#include "harness/plan/work_unit.h"
#include "harness/run/run_result.h"
#include "harness/run/runner.h"

namespace opbench {

/// Runs a unit with one number of threads: allocates, fills, verifies each variant, times the
/// correct ones, verifies them again on new values, dumps. Variants of a case are timed one after
/// the other and compared with a copy of the same bytes. Steps of a context are timed in rounds of
/// one sample of every step, so that disturbances of the machine affect all steps. Adds its phases
/// to `times`. Returns a record for each variant, except for variants of a case that an interrupt
/// left untimed. Never throws for errors of kernels.
std::vector<Record> run_work_unit(const WorkUnit& unit, const RunOptions& options, int threads,
                                  const RunHooks& hooks, PhaseTimes& times);

}  // namespace opbench
