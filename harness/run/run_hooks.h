#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "harness/plan/plan.h"
#include "harness/plan/selection.h"
#include "harness/record/record.h"
#include "harness/run/workspace.h"

namespace opbench {

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

}  // namespace opbench
