#pragma once

#include "cli/command.h"
#include "cli/run_flags.h"
#include "harness/plan/options.h"

namespace opbench {

/// `opbench run --load`: the operators of a dump, on their recorded inputs. Returns the exit code.
/// Errors: throws Error for flags that do not go together.
int run_dump(const RunFlags& flags, const RunOptions& options, CommandContext& context);

/// Errors: throws Error if a flag is given that only --load takes.
void refuse_flags_of_load(const RunFlags& flags);

}  // namespace opbench
