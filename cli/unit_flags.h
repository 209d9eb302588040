#pragma once

#include <vector>

#include "cli/run_flags.h"
#include "harness/plan/context_plan.h"
#include "harness/plan/plan.h"
#include "workers/ranks.h"

namespace opbench {

/// Whether what is asked for is run unit by unit, each recorded as it ends.
bool runs_in_units(const RunFlags& flags, const Ranks& ranks);

/// Whether processes on this machine are to measure in turn.
bool takes_turns(const RunFlags& flags, const RunOptions& options, const Ranks& ranks);

/// Whether a kernel that is not of opbench takes part: it may crash.
bool has_own_kernels(const std::vector<PlannedCase>& cases,
                     const std::vector<PlannedContext>& contexts);

/// Whether flags are given that need all in one process: a dump, or the device's files.
bool needs_one_process(const RunFlags& flags);

/// Errors: throws Error for flags that do not go with --part, --resume, --unit-timeout and several
/// ranks.
void require_takeable_by_units(const RunFlags& flags, const Ranks& ranks);

}  // namespace opbench
