#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "harness/context_plan.h"
#include "harness/options.h"
#include "harness/plan.h"
#include "harness/record.h"
#include "harness/workspace.h"

namespace opbench {

/// Where the time of a run went, in seconds. What remains of `total` is the harness itself.
struct PhaseTimes {
  double total = 0, allocate = 0, fill = 0, verify = 0, measure = 0, dump = 0;

  double overhead() const { return total - allocate - fill - verify - measure - dump; }
};

/// Everything a run found.
struct RunResult {
  std::vector<Record> records;
  PhaseTimes times;
  std::size_t cases_run = 0;
  std::size_t largest_case_bytes = 0;  ///< inputs, outputs and intermediates of one case
  bool was_interrupted = false;

  /// 1 if a verdict failed, 3 if something could not finish, 4 if nothing could be judged, else 0.
  int exit_code() const;
};

struct RunHooks {
  /// Before each case: cases done so far, cases in all.
  std::function<void(std::size_t done, std::size_t total)> step;
  /// What is being done, for a progress line.
  std::function<void(const std::string& what)> activity;
  /// A variant's turn to be dumped: the workspace holds the timed data and what the variant made of
  /// it.
  std::function<void(const PlannedCase& planned, const Selection& selection,
                     const Workspace& workspace)>
      dump;
  /// The records of each case as soon as they are complete.
  std::function<void(std::span<const Record> records)> case_done;
};

/// Runs a plan: for each case allocate, fill, verify every variant, time every variant that is
/// right, verify again on fresh data. One bad case never stops the run; an interrupt keeps what is
/// complete.
/// Contexts come after the cases.
RunResult run_plan(const std::vector<PlannedCase>& plan,
                   const std::vector<PlannedContext>& contexts, const RunOptions& options,
                   const RunHooks& hooks);

}  // namespace opbench
