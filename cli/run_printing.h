#pragma once

#include <iosfwd>

#include "cli/command.h"
#include "cli/progress_line.h"
#include "cli/run_outputs.h"
#include "harness/report/row_detail.h"
#include "harness/run/run_hooks.h"

namespace opbench {

report::RowDetail detail_of(const CommandContext& context);

/// Shows what a run does and prints rows as they come. All arguments must outlive the hooks.
RunHooks make_hooks(CommandContext& context, ProgressLine& progress, RunOutputs& outputs);

/// The summary, and what failed with the line that repeats it.
void print_end(const RunResult& result, CommandContext& context);

}  // namespace opbench
