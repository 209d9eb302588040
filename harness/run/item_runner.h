#pragma once

#include <vector>

#include "harness/plan/options.h"
#include "harness/run/item.h"
#include "harness/run/run_result.h"
#include "harness/run/runner.h"

namespace opbench {

/// Runs an item with one number of threads: allocates, fills, verifies each runnable, times those
/// that are right, verifies them again on fresh values, dumps. Variants of a case are timed one
/// after the other and compared with a copy of the same bytes; steps of a context in rounds, one
/// sample of every step in each, so that what disturbs the machine meets all of them.
/// Adds its phases to `times`. One record a runnable, but none for a variant that an interrupt left
/// untimed. Never throws for what a kernel does.
std::vector<Record> run_item(Item item, const RunOptions& options, int threads,
                             const RunHooks& hooks, PhaseTimes& times);

}  // namespace opbench
