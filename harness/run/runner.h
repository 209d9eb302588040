#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "harness/plan/context_plan.h"
#include "harness/plan/options.h"
#include "harness/plan/plan.h"
#include "harness/run/item.h"
#include "harness/run/run_hooks.h"
#include "harness/run/run_result.h"

namespace opbench {

/// A case, a context or a recorded call, to be run with one or several numbers of threads.
struct WorkItem {
  std::function<Item()> make;
  std::size_t bytes = 0;   ///< that its tensors take
  bool is_repeat = false;  ///< of another that is timed: only what it gets wrong has a row
};

/// Runs each item with every number of threads of `options`. Starts none once `is_over` is true.
RunResult run_all(std::span<const WorkItem> work, const RunOptions& options, const RunHooks& hooks,
                  const std::function<bool()>& is_over);

/// Runs a plan: for each case allocate, fill, verify every variant, time every variant that is
/// right, verify again on fresh data. One bad case never stops the run; an interrupt keeps what is
/// complete.
/// Contexts come after the cases.
RunResult run_plan(const std::vector<PlannedCase>& plan,
                   const std::vector<PlannedContext>& contexts, const RunOptions& options,
                   const RunHooks& hooks);

}  // namespace opbench
