#pragma once

#include <vector>

#include "harness/plan/options.h"
#include "harness/plan/work_unit.h"
#include "harness/run/run_result.h"
#include "harness/run/runner.h"

namespace opbench {

/// Runs a unit with one number of threads: allocates, fills, verifies each variant, times those
/// that are right, verifies them again on fresh values, dumps. Variants of a case are timed one
/// after the other and compared with a copy of the same bytes; steps of a context in rounds, one
/// sample of every step in each, so that what disturbs the machine meets all of them.
/// Adds its phases to `times`. One record for each variant, but none for one that an interrupt left
/// untimed. Never throws for what a kernel does.
std::vector<Record> run_work_unit(const WorkUnit& unit, const RunOptions& options, int threads,
                                  const RunHooks& hooks, PhaseTimes& times);

}  // namespace opbench
