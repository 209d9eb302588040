#pragma once

#include <vector>

#include "cli/command.h"
#include "cli/run_flags.h"
#include "harness/plan/context_plan.h"
#include "harness/plan/options.h"
#include "harness/plan/plan.h"
#include "harness/run/load_plan.h"

namespace opbench {

/// `opbench run --load`: the operators of a dump, on their recorded inputs. Returns the exit code.
/// Errors: throws Error for flags that do not go together.
int run_dump(const RunFlags& flags, const RunOptions& options, CommandContext& context);

/// Errors: throws Error if a flag is given that only --load takes.
void refuse_flags_of_load(const RunFlags& flags);

/// `opbench run --check-overflow`: prints which operators overflow, and dumps those alone. Returns
/// the exit code. Errors: throws Error for flags that do not go with it.
int check_overflow(const RunFlags& flags, const RunOptions& options,
                   const std::vector<PlannedCase>& plan,
                   const std::vector<PlannedContext>& contexts, CommandContext& context);
/// The same on the operators of a dump.
int check_overflow(const RunFlags& flags, const RunOptions& options, DumpSource& file,
                   const LoadPlan& plan, CommandContext& context);

}  // namespace opbench
