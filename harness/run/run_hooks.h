#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "harness/record/record.h"

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

}  // namespace opbench
