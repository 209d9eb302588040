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

/// Adds the records of a case that is complete to a result, and tells of them. `bytes`: what its
/// tensors take.
void add_records(std::vector<Record> records, std::size_t bytes, const RunHooks& hooks,
                 RunResult& result);

/// What is run as one, with any number of threads.
struct WorkItem {
  std::function<Item()> make;
  std::size_t bytes = 0;   ///< that its tensors take
  bool is_repeat = false;  ///< of another that is timed: only what it gets wrong has a row
};

/// Each with every number of threads, until `is_over`.
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
