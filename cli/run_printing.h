#pragma once

#include <cstddef>

#include "cli/command.h"
#include "cli/progress.h"
#include "cli/run_flags.h"
#include "cli/run_outputs.h"
#include "harness/report/console.h"
#include "harness/run/runner.h"

namespace opbench {

/// How a run shows what it found.
struct RunPage {
  bool is_digest = false;  ///< of cases only those with a wrong result, and a digest of all
  bool has_plots = false;
  bool has_heading = false;  ///< the titles of the table are printed
  bool is_kept = false;      ///< `opbench report --last` has every row
};
report::RowDetail detail_of(const CommandContext& context);
/// With --verbose lines may be of any width.
ConsoleStyle table_style(const CommandContext& context);

/// A digest where so many cases run that their table would take several screens, unless --verbose
/// asks for it. `cases`: single operators, once for each number of threads.
RunPage page_of(const RunFlags& flags, std::size_t cases, const CommandContext& context);

/// The titles of the table, unless there is none yet.
void begin_page(RunPage& page, CommandContext& context);

/// Shows what a run does and prints rows as they come. All arguments must outlive the hooks.
RunHooks make_hooks(CommandContext& context, RunPage& page, ProgressLine& progress,
                    RunOutputs& outputs);

/// The summary, the digest of many cases, and what failed with the lines that repeat it and lead
/// on; on standard error, why the exit code is 3 or 4.
void print_end(const RunResult& result, const RunPage& page, CommandContext& context);

/// What ended with an error, or that nothing ran, in one line on standard error; else nothing.
void tell_errors(const RunResult& result, CommandContext& context);

}  // namespace opbench
