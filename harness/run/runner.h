#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "harness/plan/context_plan.h"
#include "harness/plan/options.h"
#include "harness/plan/plan.h"
#include "harness/run/item.h"
#include "harness/run/record.h"
#include "harness/run/run_result.h"

namespace opbench {

class DumpWriter;
class MeasuringTurns;
class TaskDumps;

/// What takes the inputs and outputs of everything that runs; null: nothing is wanted there.
struct DumpTargets {
  DumpWriter* records = nullptr;  ///< HDF5
  TaskDumps* tasks = nullptr;     ///< files of single tasks, as a device writes them

  bool is_any() const { return records != nullptr || tasks != nullptr; }
  /// True once one of them can take nothing more.
  bool has_failed() const;
};

struct RunHooks {
  /// Before a variant or step is prepared, verified, timed or dumped: its name, for a process that
  /// tells of a crash. Null: a crash is told by this one (crash_message.h).
  std::function<void(const std::string& runnable)> begins;
  /// Variants and steps that are not to run, since they crashed before, and why.
  std::map<std::string, std::string> crashed = {};
  /// Before each case: cases done so far, cases in all.
  std::function<void(std::size_t done, std::size_t total)> progress;
  /// What is being done, for a progress line.
  std::function<void(const std::string& what)> activity;
  DumpTargets dump;
  /// What other processes on this machine take turns by; null: there are none.
  const MeasuringTurns* turns = nullptr;
  /// The records of each case as soon as they are complete.
  std::function<void(std::span<const Record> records)> case_done;
};

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
