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
  std::function<void(const std::string& variant)> begins;
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

/// Runs each unit with every number of threads of `options`: allocates, fills, verifies every
/// variant, times every variant that is right, verifies again on fresh data. One bad unit never
/// stops the run; an interrupt keeps what is complete, and recorded calls end once their dump
/// cannot be written any more.
RunResult run_units(std::span<const WorkUnit> units, const RunOptions& options,
                    const RunHooks& hooks);

}  // namespace opbench
