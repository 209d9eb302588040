#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/progress.h"
#include "cli/run_flags.h"
#include "harness/plan/work_unit.h"
#include "harness/run/merge_parts.h"
#include "harness/run/part_file.h"
#include "harness/run/run_folder.h"
#include "harness/run/unit_plan.h"
#include "workers/dispatch.h"
#include "workers/ranks.h"

namespace opbench {

/// Runs a unit; null if it was interrupted.
using RunsUnit = std::function<std::optional<units::UnitResult>(std::size_t unit)>;

/// Returns the function by which a rank runs the units that it receives. Its answer packs the
/// rank's number, the line of the unit and, in the first answer, the header of the rank's file.
UnitWork unit_work(const Ranks& ranks, const units::PartHeader& header, RunsUnit run);

/// Rank 0 of a run on several ranks: it sends units to ranks and writes their results. Each rank
/// has its own file, since ranks may run on different machines.
class RankedUnits {
 public:
  /// Without a folder results are kept in memory only.
  RankedUnits(Ranks& ranks, const units::UnitPlan& plan, const units::RunFolder* folder,
              UnitsProgress& progress)
      : ranks_(ranks), plan_(plan), folder_(folder), progress_(progress) {}

  /// Errors: those of `dispatch`; RunError if a result cannot be written.
  void run(const std::vector<std::size_t>& todo, const UnitWork& work);

  /// All results: those of the folder, or those in memory.
  units::CollectedUnits collected() const;

 private:
  void take(const std::string& answer);

  Ranks& ranks_;
  const units::UnitPlan& plan_;
  const units::RunFolder* folder_;
  UnitsProgress& progress_;
  std::map<int, std::unique_ptr<units::PartFile>> files_;
  std::map<int, std::string> texts_;
};

/// True if the run records each work unit when it ends.
bool runs_in_units(const RunFlags& flags, const Ranks& ranks);

/// True if processes on this machine measure in turn.
bool takes_turns(const RunFlags& flags, const RunOptions& options, const Ranks& ranks);

/// True if a kernel of the user takes part: it may crash.
bool has_own_kernels(std::span<const WorkUnit> units);

/// True if a flag needs all work in one process: a dump, or files in the device's format.
bool needs_one_process(const RunFlags& flags);

/// Errors: throws Error for flags that do not work with --part, --resume, --unit-timeout and
/// several ranks.
void require_takeable_by_units(const RunFlags& flags, const Ranks& ranks);

/// Flag of the process for units: it measures in turn with other processes.
inline constexpr const char* kTakeTurns = "--take-turns";

/// Runs the plan, a part of it, or its remaining units. Returns the exit code.
/// Errors: throws Error for a folder of another run, RunError if a unit cannot be recorded.
int run_in_units(const RunFlags& flags, const RunOptions& options, units::UnitPlan plan,
                 CommandContext& context);

}  // namespace opbench
