#pragma once

#include <span>

#include "cli/command.h"
#include "cli/run_flags.h"
#include "harness/plan/options.h"
#include "harness/plan/work_unit.h"
#include "harness/run/load_plan.h"

namespace opbench {

/// Runs units of case files in this process, each with every number of threads. Prints and writes
/// the results. Returns the exit code. Errors: those of `RunOutputs`.
int run_here(const RunFlags& flags, const RunOptions& options, std::span<const WorkUnit> units,
             CommandContext& context);

/// `opbench run --load`: runs the operators of a dump on their recorded inputs. Returns the exit
/// code. Errors: throws Error for flags that contradict each other.
int run_dump(const RunFlags& flags, const RunOptions& options, CommandContext& context);

/// Errors: throws Error for a flag that needs --load.
void refuse_flags_of_load(const RunFlags& flags);

/// `opbench run --check-overflow`: prints which operators overflow, and dumps only those.
/// `loaded`: the dump of the operators; null if they come from case files. Returns the exit code.
/// Errors: throws Error for flags that contradict it.
int check_overflow(const RunFlags& flags, const RunOptions& options,
                   std::span<const WorkUnit> units, const LoadPlan* loaded,
                   CommandContext& context);

}  // namespace opbench
