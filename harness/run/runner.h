#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "harness/plan/options.h"
#include "harness/plan/work_unit.h"
#include "harness/run/record.h"
#include "harness/run/run_result.h"

namespace opbench {

class DumpWriter;
class MeasuringTurns;
class TaskDumps;

/// Destinations of the inputs and outputs of all nodes; null: not dumped there.
struct DumpTargets {
  DumpWriter* records = nullptr;  ///< HDF5
  TaskDumps* tasks = nullptr;     ///< files of single tasks, like a device's

  bool is_any() const { return records != nullptr || tasks != nullptr; }
  /// True if one of them cannot write any more.
  bool has_failed() const;
};

struct RunHooks {
  /// Called with the name of a variant or step before it is prepared, verified, timed or dumped, so
  /// that another process can report a crash. Null: this process reports it (crash_message.h).
  std::function<void(const std::string& variant)> begins;
  /// Variants and steps that are not run because they crashed before, with the reason.
  std::map<std::string, std::string> crashed = {};
  /// Called before each case: cases done so far, cases in total.
  std::function<void(std::size_t done, std::size_t total)> progress;
  /// Receives the current activity, for a progress line.
  std::function<void(const std::string& what)> activity;
  DumpTargets dump;
  /// Turns of the processes on this machine; null: there is one process.
  const MeasuringTurns* turns = nullptr;
  /// Called with the records of each case when they are complete.
  std::function<void(std::span<const Record> records)> case_done;
};

/// Runs each unit with every number of threads of `options`: allocates, fills, verifies every
/// variant, times every correct variant, and verifies it again on new data. A failing unit does not
/// stop the run. An interrupt keeps all complete results. Recorded calls end if their dump cannot
/// be written any more.
RunResult run_units(std::span<const WorkUnit> units, const RunOptions& options,
                    const RunHooks& hooks);

}  // namespace opbench
