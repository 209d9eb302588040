#pragma once

#include <cstddef>

#include "cli/command.h"
#include "cli/progress.h"
#include "cli/run_flags.h"
#include "cli/run_outputs.h"
#include "harness/report/console.h"
#include "harness/run/runner.h"

namespace opbench {

/// Display options of a run.
struct RunPage {
  bool is_digest = false;  ///< print only cases with a wrong result, and a digest of all
  bool has_plots = false;
  bool has_heading = false;  ///< the titles of the table are printed
  bool is_kept = false;      ///< `opbench report --last` has every row
};
report::RowDetail detail_of(const CommandContext& context);
/// With --verbose lines may be of any width.
ConsoleStyle table_style(const CommandContext& context);

/// Chooses a digest if the table of all cases would take several screens, unless --verbose is
/// given. `cases`: the number of single operators, once for each number of threads.
RunPage page_of(const RunFlags& flags, std::size_t cases, const CommandContext& context);

/// Prints the titles of the table once.
void begin_page(RunPage& page, CommandContext& context);

/// Shows progress and prints rows when they are measured. All arguments must outlive the hooks.
RunHooks make_hooks(CommandContext& context, RunPage& page, ProgressLine& progress,
                    RunOutputs& outputs);

/// Prints the summary, the digest of many cases, and the failures with the commands that repeat and
/// explain them. Prints the reason of exit codes 3 and 4 to standard error.
void print_end(const RunResult& result, const RunPage& page, CommandContext& context);

/// Prints one line to standard error if units ended with an error, or if nothing ran.
void tell_errors(const RunResult& result, CommandContext& context);

}  // namespace opbench
